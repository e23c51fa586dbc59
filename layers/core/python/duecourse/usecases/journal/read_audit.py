"""List the audit log of a day: the stored entries, and those derived from failed runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from duecourse.domain.journal.audit import audit_position, find_call, make_audit_entry
from duecourse.domain.journal.failed_runs import FailedRun
from duecourse.ports.journal import AuditItem, AuditPage, Counters, ErrorLog, Journal


@dataclass(frozen=True, kw_only=True)
class AuditDeps:
    journal: Journal
    counters: Counters
    error_log: ErrorLog


def read_audit(day: date, deps: AuditDeps, *, limit: int, after: str | None) -> AuditPage:
    """Return the entries of a UTC day, oldest first, starting after the position `after`.

    An entry belongs to the day on which its execution or change began. Raises ValueError if `after`
    is not a position.
    """
    stored = deps.journal.list_audit(day, limit=limit, after=after)
    by_position: dict[str, AuditItem | FailedRun] = {
        position: run
        for run in deps.counters.list_failed_runs(day.isoformat())
        if run.is_audited and _is_between(position := _position_of(run), after, stored.next_cursor)
    }
    # A stored entry is newer: the run was amended on a later day.
    by_position |= {item.position: item for item in stored.items}
    positions = sorted(by_position)
    page = positions[:limit]
    items = _load([by_position[position] for position in page], deps)
    # Beyond the stored entries of this page nothing was derived, so their end is also the page's.
    return AuditPage(items, page[-1] if len(positions) > limit else stored.next_cursor)


def _position_of(run: FailedRun) -> str:
    return audit_position(run.ref.started_at, run.ref.run_id)


def _is_between(position: str, after: str | None, last: str | None) -> bool:
    """Return whether the position is on this page, as far as the stored entries reach."""
    return position > (after or "") and (last is None or position <= last)


def _load(page: Sequence[AuditItem | FailedRun], deps: AuditDeps) -> list[AuditItem]:
    failed = [one for one in page if isinstance(one, FailedRun)]
    derived = _derive(failed, deps) if failed else {}
    items = [one if isinstance(one, AuditItem) else derived.get(one.ref.run_id) for one in page]
    return [item for item in items if item is not None]


def _derive(failed: Sequence[FailedRun], deps: AuditDeps) -> Mapping[str, AuditItem]:
    """Return the entries by run id, without those whose record has expired."""
    found = {}
    for one in deps.error_log.find_records(run.ref for run in failed).values():
        call = find_call(one.run, one.provider)
        if one.audit is not None and call is not None:
            entry = make_audit_entry(one.task_id, one.run, call, one.audit)
            position = audit_position(one.run.started_at, one.run.id)
            found[one.run.id] = AuditItem(position, entry.to_json())
    return found
