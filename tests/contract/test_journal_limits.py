"""A series can run every minute: listings read only the latest entries."""

from __future__ import annotations

from datetime import timedelta

import pytest
from duecourse.adapters.aws.dynamodb import journal as adapter
from duecourse.adapters.aws.dynamodb.error_log import DynamoErrorLog
from duecourse.adapters.aws.dynamodb.journal import DynamoJournal
from duecourse.domain.tasks.event import Event, EventType

from tests.contract.conftest import RETENTION
from tests.support.builders.failures import a_logged_error
from tests.support.builders.moments import MINUTE, NOW
from tests.support.builders.runs import a_run
from tests.support.builders.tasks import ID, a_task


@pytest.fixture(autouse=True)
def _set_low_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adapter, "MAX_ENTRIES", 3)


def test_the_latest_events_are_read_oldest_first(journal: DynamoJournal) -> None:
    for version in range(1, 12):
        event = Event(EventType.TASK_CHANGED, ID, NOW, {"version": version})
        journal.write(a_task(version=version), [event], None)
    assert [event.detail["version"] for event in journal.list_events(ID)] == [9, 10, 11]


def test_the_latest_runs_are_read_oldest_first(journal: DynamoJournal) -> None:
    for n in range(5):
        at = NOW + n * MINUTE
        run = a_run(id=f"run-{n}", started_at=at, ended_at=at + timedelta(seconds=1))
        journal.write(a_task(), [], run)
    assert [run.id for run in journal.list_runs(ID)] == ["run-2", "run-3", "run-4"]


def test_the_latest_errors_are_read_oldest_first() -> None:
    log = DynamoErrorLog(retention=RETENTION, backoff=lambda _: None)
    for n in range(5):
        error, run = a_logged_error(f"run-{n}", at=NOW + n * MINUTE)
        assert log.record_error(error, run)
    assert [error.id for error in log.list_by_task(ID)] == ["run-2", "run-3", "run-4"]
