"""The template's resources in moto and in the lean endpoint: every test runs on both.

They are created once per module; the tables are emptied after every test.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from botocore.endpoint import Endpoint
from duecourse.adapters.aws.clients import share_session_with_pynamodb
from duecourse.adapters.aws.dynamodb.journal import DynamoJournal
from duecourse.adapters.aws.dynamodb.journal_models import bind_journal
from duecourse.adapters.aws.dynamodb.models import bind
from duecourse.adapters.aws.dynamodb.scan_cursors import DynamoScanCursors
from duecourse.adapters.aws.dynamodb.task_store import DynamoTaskStore
from duecourse.adapters.aws.dynamodb.tracking_models import bind_tracking
from duecourse.ports.tasks import TaskStore

from local.runtime.aws_backend import AwsBackend
from local.runtime.call_interceptor import CallInterceptor
from local.runtime.clock import LocalClock
from local.runtime.moto_backend import MotoBackend
from local.runtime.resources import make_resources
from local.runtime.template import REGION, Resolver, load_template
from local.testing.faults import Faults
from local.testing.lean_aws.backend import LeanBackend
from tests.support.clear_tables import clear_tables
from tests.support.fakes.tasks import MemoryStore

RETENTION = timedelta(days=30)
SHARDS = 4


@pytest.fixture(scope="module", params=[MotoBackend, LeanBackend], ids=["moto", "lean"])
def backend(request: pytest.FixtureRequest) -> AwsBackend:
    found: AwsBackend = request.param()
    return found


@pytest.fixture(scope="module")
def aws(backend: AwsBackend) -> Iterator[Resolver]:
    """Create the template's resources; the resolver knows their names."""
    resolver = Resolver(load_template())
    clock = LocalClock(is_manual=False)
    with pytest.MonkeyPatch.context() as patch, backend.install(clock):
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
            patch.setenv(name, "test")
        for name in ("AWS_REGION", "AWS_DEFAULT_REGION"):
            patch.setenv(name, REGION)
        make_resources(load_template(), resolver, token="test")
        names = {
            name: resolver.resolve({"Ref": f"{name.title()}Table"})
            for name in ("tasks", "journal", "state", "subjects", "stats")
        }
        share_session_with_pynamodb()
        bind(tasks=names["tasks"], state=names["state"])
        bind_journal(journal=names["journal"])
        bind_tracking(state=names["state"], subjects=names["subjects"], stats=names["stats"])
        yield resolver


@pytest.fixture(autouse=True)
def _empty_tables(aws: Resolver, backend: AwsBackend) -> Iterator[None]:  # noqa: ARG001 - its tables
    yield
    clear_tables(backend)


@pytest.fixture
def faults() -> Faults:
    return Faults()


@pytest.fixture
def calls(faults: Faults) -> Iterator[CallInterceptor]:
    interceptor = CallInterceptor(faults)
    with interceptor.install():
        yield interceptor


@pytest.fixture
def dynamo() -> DynamoTaskStore:
    return DynamoTaskStore(shard_count=SHARDS, retention=RETENTION)


@pytest.fixture(params=["dynamodb", "memory"])
def store(request: pytest.FixtureRequest, dynamo: DynamoTaskStore) -> TaskStore:
    """Run the test on the DynamoDB store and on the fake of the unit tests."""
    return dynamo if request.param == "dynamodb" else MemoryStore(shard_count=SHARDS)


@pytest.fixture
def journal() -> DynamoJournal:
    return DynamoJournal(retention=RETENTION)


@pytest.fixture
def cursors() -> DynamoScanCursors:
    return DynamoScanCursors()


@pytest.fixture
def serialize_calls(
    calls: CallInterceptor,  # noqa: ARG001 - installed below the lock
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Call AWS from one thread at a time: unlike DynamoDB, moto does not write atomically."""
    endpoint_class: Any = Endpoint
    lock, real = threading.Lock(), endpoint_class._do_get_response

    def call_in_turn(*args: Any) -> Any:
        with lock:
            return real(*args)

    monkeypatch.setattr(endpoint_class, "_do_get_response", call_in_turn)
