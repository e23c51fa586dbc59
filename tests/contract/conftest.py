"""The template's own tables and queues in moto, empty for every test."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest
from duecourse.adapters.dynamodb.cursors import DynamoCursors
from duecourse.adapters.dynamodb.items import bind
from duecourse.adapters.dynamodb.journal import DynamoJournal
from duecourse.adapters.dynamodb.task_store import DynamoTaskStore
from local.faults import Faults
from local.resources import make_resources
from local.template import REGION, Resolver, translated
from moto import mock_aws

RETENTION = timedelta(days=30)
SHARDS = 4


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[Resolver]:
    """Knows what each resource of the template is called here."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.setenv(name, "test")
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.setenv(name, REGION)
    resolver = Resolver(translated())
    with mock_aws():
        make_resources(translated(), resolver, token="test")
        bind(
            tasks=resolver.resolve({"Ref": "TasksTable"}),
            journal=resolver.resolve({"Ref": "JournalTable"}),
            state=resolver.resolve({"Ref": "StateTable"}),
        )
        yield resolver


@pytest.fixture
def faults(aws: Resolver) -> Iterator[Faults]:  # noqa: ARG001 - they strike what is there
    found = Faults()
    with found.installed():
        yield found


@pytest.fixture
def store(aws: Resolver) -> DynamoTaskStore:  # noqa: ARG001 - its tables
    return DynamoTaskStore(shard_count=SHARDS, retention=RETENTION)


@pytest.fixture
def journal(aws: Resolver) -> DynamoJournal:  # noqa: ARG001 - its table
    return DynamoJournal(retention=RETENTION)


@pytest.fixture
def cursors(aws: Resolver) -> DynamoCursors:  # noqa: ARG001 - its table
    return DynamoCursors()
