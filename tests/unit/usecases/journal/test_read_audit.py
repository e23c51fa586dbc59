"""The audit log of a day: stored entries and those derived from failed runs, in one order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from typing import Any

import pytest
from duecourse.domain.journal.audit import audit_position
from duecourse.domain.journal.counter_page import CountedChange
from duecourse.domain.journal.failed_runs import failed_run_increment
from duecourse.domain.journal.journal_entries import to_journal_entries
from duecourse.domain.journal.learning_counters import RunRef
from duecourse.domain.journal.run_record import RunRecord
from duecourse.domain.tasks.run import ProviderCall
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.ports.journal import AuditItem, AuditPage
from duecourse.usecases.journal.read_audit import AuditDeps, read_audit

from tests.support.builders.failures import fail_task
from tests.support.builders.moments import MINUTE, NOW
from tests.support.builders.runs import run_of
from tests.support.builders.tasks import an_action, claim_task
from tests.support.fakes.journal import MemoryCounters, MemoryJournal


@dataclass
class StoredAudit(MemoryJournal):
    stored: list[AuditItem] = field(default_factory=list)

    def list_audit(self, day: date, *, limit: int, after: str | None) -> AuditPage:
        assert day == NOW.date()
        left = [item for item in self.stored if item.position > (after or "")]
        page = left[:limit]
        return AuditPage(page, page[-1].position if len(left) > limit else None)


@dataclass
class Records:
    records: dict[str, RunRecord] = field(default_factory=dict)

    def find_records(self, refs: Iterable[RunRef]) -> Mapping[str, RunRecord]:
        return {ref.run_id: self.records[ref.run_id] for ref in refs if ref.run_id in self.records}


@dataclass
class Audit:
    journal: StoredAudit = field(default_factory=StoredAudit)
    counters: MemoryCounters = field(default_factory=MemoryCounters)
    records: Records = field(default_factory=Records)

    def store(self, minute: int) -> str:
        at = NOW + minute * MINUTE
        item = AuditItem(audit_position(at, f"change-{minute}"), {"run_id": f"change-{minute}"})
        self.journal.stored.append(item)
        return f"change-{minute}"

    def fail(self, minute: int, **fields: Any) -> str:
        task = self._failed_task(minute, NOW + minute * MINUTE, **fields)
        run = run_of(task)
        entries = to_journal_entries(
            replace(task, status=Status.IN_PROGRESS, run=replace(run, ended_at=None), version=2),
            task,
            at=NOW,
            is_named_by_counters=True,
        )
        assert entries.record is not None
        self.records.records[run.id] = entries.record
        change = CountedChange(minute + 1, NOW, [failed_run_increment(task)])
        self.counters.add("shard", [change])
        return run.id

    def _failed_task(self, minute: int, at: datetime, **fields: Any) -> Task:
        task_id = f"{minute:08x}-0000-4000-8000-000000000000"
        running = claim_task(an_action(id=task_id, **fields), f"run-{minute}", at=at)
        call = ProviderCall(provider="scripted", milliseconds=7)
        failed = fail_task(running, at=at)
        return replace(failed, run=replace(run_of(failed), call=call))

    def read(self, limit: int) -> list[str]:
        """Return the ids of all pages."""
        found: list[str] = []
        after: str | None = ""
        while after is not None:
            page = read_audit(NOW.date(), self._deps(), limit=limit, after=after or None)
            assert len(page.items) <= limit
            found += [item.entry["run_id"] for item in page.items]
            after = page.next_cursor
            assert len(found) < 50, "paging never ends"
        return found

    def _deps(self) -> AuditDeps:
        return AuditDeps(
            journal=self.journal,
            counters=self.counters,
            error_log=self.records,  # type: ignore[arg-type]  # only this method is called
        )


@pytest.mark.parametrize("limit", [1, 2, 3, 9])
def test_stored_and_derived_entries_are_listed_by_time(limit: int) -> None:
    audit = Audit()
    expected = [
        audit.store(0),
        audit.fail(1),
        audit.fail(2),
        audit.store(3),
        audit.store(4),
        audit.fail(5),
    ]
    assert audit.read(limit) == expected


def test_a_derived_entry_says_what_the_run_did() -> None:
    audit = Audit()
    audit.fail(1, description="file the report")

    [item] = read_audit(NOW.date(), audit._deps(), limit=9, after=None).items

    assert item.entry["description"] == "file the report"
    assert item.entry["outcome"] == "unknown"
    assert item.entry["duration_ms"] == 7


def test_a_stored_entry_replaces_the_derived_one_of_the_same_run() -> None:
    audit = Audit()
    run_id = audit.fail(1)
    position = audit_position(NOW + MINUTE, run_id)
    audit.journal.stored.append(AuditItem(position, {"run_id": run_id, "outcome": "success"}))

    [item] = read_audit(NOW.date(), audit._deps(), limit=9, after=None).items

    assert item.entry["outcome"] == "success"


def test_a_failed_run_that_called_no_provider_is_not_listed() -> None:
    audit = Audit()
    audit.fail(1, type="webhook")
    assert audit.read(9) == []


def test_an_entry_whose_record_expired_is_left_out_and_ends_no_paging() -> None:
    audit = Audit()
    audit.fail(1)
    audit.records.records.clear()
    assert [audit.store(2), audit.store(3)] == audit.read(1)


def test_a_page_of_unreadable_entries_is_followed_by_the_next() -> None:
    audit = Audit()
    unreadable = AuditPage([], audit_position(NOW, "unreadable"))

    class Unreadable(StoredAudit):
        def list_audit(self, day: date, *, limit: int, after: str | None) -> AuditPage:
            return (
                unreadable if after is None else super().list_audit(day, limit=limit, after=after)
            )

    audit.journal = Unreadable()
    assert [audit.fail(1), audit.store(2)] == audit.read(1)
