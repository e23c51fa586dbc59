"""What one change of a task brings to the journal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from duecourse.domain.journal.audit import (
    AuditEntry,
    audited_text,
    find_executed_run,
    to_audit_entry,
)
from duecourse.domain.journal.history import ended_run, events_between, is_amendment
from duecourse.domain.journal.run_record import RunRecord, to_run_record
from duecourse.domain.lifecycle.correction import is_late_report
from duecourse.domain.tasks.event import Event, EventType
from duecourse.domain.tasks.late_report import LateReport
from duecourse.domain.tasks.task import Task


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """An event stored by itself. `version` is that of the task after the change."""

    version: int
    event: Event


@dataclass(frozen=True, slots=True)
class LateEntry:
    """A late report about an earlier run than the task's last one: for that run's record."""

    task_id: str
    report: LateReport

    @property
    def event(self) -> Event:
        late = self.report
        detail = {"run_id": late.run_id, "error": late.error, "effect": str(late.effect)}
        return Event(EventType.TASK_CORRECTED, self.task_id, late.reported_at, detail)


@dataclass(frozen=True, kw_only=True, slots=True)
class JournalEntries:
    """`events`: those that no run and no task tells. `version`: the task's, part of their keys.

    `execution`: the audit entry of a provider call. `is_named_by_counters`: the counters name the
    failed run, so it needs no entry by category and no audit entry.
    """

    version: int
    events: Sequence[Event] = ()
    record: RunRecord | None = None
    execution: AuditEntry | None = None
    is_named_by_counters: bool = False
    late: LateEntry | None = None

    @property
    def is_empty(self) -> bool:
        has_run = self.record is not None or self.execution is not None
        return not self.events and not has_run and self.late is None


def to_journal_entries(
    old: Task | None, new: Task, *, at: datetime, is_named_by_counters: bool = False
) -> JournalEntries:
    run, record = find_executed_run(old, new), to_run_record(old, new, at=at)
    execution = to_audit_entry(new, run) if run else None
    if is_named_by_counters and record is not None and execution is not None:
        record, execution = replace(record, audit=audited_text(new)), None
    return JournalEntries(
        version=new.version,
        events=_events_of_their_own(old, new, at=at),
        record=record,
        execution=execution,
        is_named_by_counters=is_named_by_counters,
        late=_late_entry(old, new),
    )


def _late_entry(old: Task | None, new: Task) -> LateEntry | None:
    if old is None or new.late_report is None or not is_late_report(old, new):
        return None
    return LateEntry(new.id, new.late_report)


def _events_of_their_own(old: Task | None, new: Task, *, at: datetime) -> list[Event]:
    """Return the events to store. Creation follows from the task, the end of a run from the run."""
    run = ended_run(old, new)
    if old is None or (run is not None and not is_amendment(run, old)):
        return []
    return events_between(old, new, at=at)
