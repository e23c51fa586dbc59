"""The template's tables in moto: created once per module, emptied after every test."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest
from duecourse.adapters.aws.dynamodb.journal import DynamoJournal
from duecourse.adapters.aws.dynamodb.models import JournalItem, StateItem, TaskItem, bind
from duecourse.adapters.aws.dynamodb.scan_cursors import DynamoScanCursors
from duecourse.adapters.aws.dynamodb.task_store import DynamoTaskStore
from duecourse.adapters.aws.dynamodb.tracking_models import CounterItem, SubjectItem, bind_tracking
from duecourse.ports.tasks import TaskStore
from moto import mock_aws

from local.runtime.call_interceptor import CallInterceptor
from local.runtime.resources import make_resources
from local.runtime.template import REGION, Resolver, load_template
from local.testing.faults import Faults
from tests.support.fakes.tasks import MemoryStore

RETENTION = timedelta(days=30)
SHARDS = 4


@pytest.fixture(scope="module")
def aws() -> Iterator[Resolver]:
    """Create the template's resources; the resolver knows their names."""
    resolver = Resolver(load_template())
    with pytest.MonkeyPatch.context() as patch, mock_aws():
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
            patch.setenv(name, "test")
        for name in ("AWS_REGION", "AWS_DEFAULT_REGION"):
            patch.setenv(name, REGION)
        make_resources(load_template(), resolver, token="test")
        names = {
            name: resolver.resolve({"Ref": f"{name.title()}Table"})
            for name in ("tasks", "journal", "state", "subjects", "stats")
        }
        bind(tasks=names["tasks"], journal=names["journal"], state=names["state"])
        bind_tracking(state=names["state"], subjects=names["subjects"], stats=names["stats"])
        yield resolver


@pytest.fixture(autouse=True)
def _empty_tables(aws: Resolver) -> Iterator[None]:  # noqa: ARG001 - its tables
    yield
    for table in (TaskItem, JournalItem, StateItem, SubjectItem, CounterItem):
        with table.batch_write() as batch:
            for item in table.scan():
                batch.delete(item)


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
