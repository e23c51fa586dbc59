"""The journal, the counters and the statistics in memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, field
from datetime import date, datetime

from duecourse.domain.chat.audit_operator import OperatorChange
from duecourse.domain.failures.subject import Subject
from duecourse.domain.journal.audit_api import ApiChange
from duecourse.domain.journal.counted_runs import read_counted_runs
from duecourse.domain.journal.counter_page import NO_PAGE, CountedChange, CounterPage
from duecourse.domain.journal.failed_runs import FailedRun, read_failed_runs
from duecourse.domain.journal.failure_tracker import FailureTracker
from duecourse.domain.journal.increment import Increment
from duecourse.domain.journal.journal_entries import JournalEntries, StoredEvent
from duecourse.domain.journal.run_record import RunRecord
from duecourse.ports.journal import AuditPage


@dataclass
class MemoryJournal:
    """`errors` are raised by a write that contains an entry of that task; `writes` has the number
    of entries of each write. `events` and `runs` are what a task's listings return."""

    errors: dict[str, Exception] = field(default_factory=dict)
    written: list[JournalEntries] = field(default_factory=list)
    writes: list[int] = field(default_factory=list)
    events: Sequence[StoredEvent] = ()
    runs: Sequence[RunRecord] = ()
    erased: list[set[str]] = field(default_factory=list)
    erase_error: Exception | None = None

    @property
    def task_ids(self) -> list[str]:
        return [task_id_of(entries) for entries in self.written]

    def write(self, batch: Sequence[JournalEntries]) -> None:
        self.writes.append(len(batch))
        for entries in batch:
            if (error := self.errors.get(task_id_of(entries))) is not None:
                raise error
        self.written += batch

    def record_change(self, change: ApiChange | OperatorChange) -> None:
        raise NotImplementedError("no unit test audits a change here")

    def erase(self, task_ids: Set[str], *, at: datetime) -> None:
        del at
        if self.erase_error is not None:
            raise self.erase_error
        self.erased.append(set(task_ids))

    def list_events(self, task_id: str) -> Sequence[StoredEvent]:
        return [one for one in self.events if one.event.task_id == task_id]

    def list_runs(self, task_id: str) -> Sequence[RunRecord]:
        return [record for record in self.runs if record.task_id == task_id]

    def list_audit(self, day: date, *, limit: int, after: str | None) -> AuditPage:
        raise NotImplementedError("no unit test lists the audit log")


@dataclass
class MemoryCounters:
    """Counts on one page per shard. Every call is in `calls`, and raises `error` if it is set."""

    error: Exception | None = None
    calls: list[tuple[str, list[CountedChange]]] = field(default_factory=list)
    pages: dict[str, CounterPage] = field(default_factory=dict)

    def add(self, shard_id: str, changes: Iterable[CountedChange]) -> None:
        counted = list(changes)
        self.calls.append((shard_id, counted))
        if self.error is not None:
            raise self.error
        page = self.pages.get(shard_id, NO_PAGE)
        self.pages[shard_id] = page.add(counted) or page

    def read_since(self, day: str, *, now: datetime) -> Sequence[Increment]:
        del now
        increments = [one for page in self.pages.values() for one in page.increments]
        return [one for one in increments if one.day >= day]

    def list_failed_runs(self, day: str) -> Sequence[FailedRun]:
        increments = [one for page in self.pages.values() for one in page.increments]
        return sorted(read_failed_runs(one for one in increments if one.day == day))

    def list_counted_runs(self, day: str) -> Set[str] | None:
        increments = [one for page in self.pages.values() for one in page.increments]
        return read_counted_runs(one for one in increments if one.day == day)

    def compact(self, *, now: datetime) -> int:
        raise NotImplementedError("no unit test compacts counters")


@dataclass
class MemoryStats:
    trackers: list[FailureTracker] = field(default_factory=list)

    def save_tracker(self, tracker: FailureTracker) -> None:
        self.trackers.append(tracker)

    def delete_tracker(self, task_id: str) -> None:
        self.trackers = [one for one in self.trackers if one.task_id != task_id]

    def list_given_up(self, limit: int) -> Sequence[Subject]:
        raise NotImplementedError("no unit test lists subjects here")

    def list_repeated(self, *, since: datetime) -> Sequence[FailureTracker]:
        return [one for one in self.trackers if one.last_error_at >= since]


def task_id_of(entries: JournalEntries) -> str:
    if entries.record is not None:
        return entries.record.task_id
    if entries.execution is not None:
        return entries.execution.task_id
    return entries.events[0].task_id
