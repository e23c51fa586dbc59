"""A series can run every minute: listings read only the latest entries."""

from __future__ import annotations

import pytest
from duecourse.adapters.aws.dynamodb import journal as adapter
from duecourse.adapters.aws.dynamodb.counters import DynamoCounters
from duecourse.adapters.aws.dynamodb.error_log import DynamoErrorLog
from duecourse.adapters.aws.dynamodb.journal import DynamoJournal
from duecourse.domain.journal.journal_entries import JournalEntries
from duecourse.domain.tasks.event import Event, EventType

from tests.contract.conftest import RETENTION
from tests.support.builders.failures import a_run_record
from tests.support.builders.moments import MINUTE, NOW
from tests.support.builders.tasks import ID


@pytest.fixture(autouse=True)
def _set_low_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adapter, "MAX_ENTRIES", 3)


def write_runs(journal: DynamoJournal, count: int) -> None:
    records = [a_run_record(f"run-{n}", at=NOW + n * MINUTE) for n in range(count)]
    journal.write([JournalEntries(version=1, record=record) for record in records])


def test_the_latest_events_are_read_oldest_first(journal: DynamoJournal) -> None:
    for version in range(1, 12):
        event = Event(EventType.TASK_CHANGED, ID, NOW, {})
        journal.write([JournalEntries(version=version, events=[event])])
    assert [one.version for one in journal.list_events(ID)] == [9, 10, 11]


def test_the_latest_runs_are_read_oldest_first(journal: DynamoJournal) -> None:
    write_runs(journal, 5)
    assert [record.run.id for record in journal.list_runs(ID)] == ["run-2", "run-3", "run-4"]


def test_the_latest_errors_are_read_oldest_first(journal: DynamoJournal) -> None:
    write_runs(journal, 5)
    log = DynamoErrorLog(DynamoCounters(), retention=RETENTION)
    assert [error.id for error in log.list_by_task(ID)] == ["run-2", "run-3", "run-4"]
