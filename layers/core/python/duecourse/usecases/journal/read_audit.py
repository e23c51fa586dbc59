"""List the audit log of a day: the stored entries, and those derived from failed runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from duecourse.domain.journal.audit import (
    AuditEntry,
    audit_position,
    find_call,
    make_audit_entry,
)
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
    failed = (
        (audit_position(run.ref.started_at, run.ref.run_id), run)
        for run in deps.counters.list_failed_runs(day.isoformat())
        if run.is_audited
    )
    by_position: dict[str, AuditItem | FailedRun] = {
        position: run
        for position, run in failed
        if _is_between(position, after, stored.next_cursor)
    }
    # A stored entry is newer: the run was amended on a later day.
    by_position |= {item.position: item for item in stored.items}
    positions = sorted(by_position)
    page = positions[:limit]
    items = _load({position: by_position[position] for position in page}, deps)
    # Beyond the stored entries of this page nothing was derived, so their end is also the page's.
    return AuditPage(items, page[-1] if len(positions) > limit else stored.next_cursor)


def _is_between(position: str, after: str | None, last: str | None) -> bool:
    """Return whether the position is on this page, as far as the stored entries reach."""
    return position > (after or "") and (last is None or position <= last)


def _load(page: Mapping[str, AuditItem | FailedRun], deps: AuditDeps) -> list[AuditItem]:
    """Return the entries of the page, which is by position, without those that have expired."""
    failed = [one for one in page.values() if isinstance(one, FailedRun)]
    derived = _derive(failed, deps) if failed else {}
    items = []
    for position, one in page.items():
        if isinstance(one, AuditItem):
            items.append(one)
        elif entry := derived.get(one.ref.run_id):
            items.append(AuditItem(position, entry.to_json()))
    return items


def _derive(failed: Sequence[FailedRun], deps: AuditDeps) -> Mapping[str, AuditEntry]:
    """Return the entries by run id, without those whose record has expired."""
    found = {}
    for one in deps.error_log.find_records(run.ref for run in failed).values():
        call = find_call(one.run, one.provider)
        if one.audit is not None and call is not None:
            found[one.run.id] = make_audit_entry(one.task_id, one.run, call, one.audit)
    return found
