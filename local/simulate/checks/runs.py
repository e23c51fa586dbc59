"""Invariants of runs and of the retries that they count."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from local.simulate.observed import Observed

# After these a person, or a late report, may have changed what counts.
_CORRECTING_EVENTS = frozenset(
    f"task:{one}"
    for one in ("changed", "unblocked", "resolved", "reclassified", "corrected", "resumed")
)


def linked(observed: Observed) -> Iterator[str | None]:
    """Attempts at one occurrence are numbered from 1, and each names the one before it.

    The journal has no run of a task whose end it could not read.
    """
    for task_id, record in observed.records.items():
        if task_id in observed.newer_ids:
            continue
        previous: dict[str, Any] | None = None
        for run in record.runs:
            if run["retry_of"] is None:
                is_linked = run["attempt"] == 1
            else:
                is_linked = (
                    previous is not None
                    and run["retry_of"] == previous["id"]
                    and run["attempt"] == previous["attempt"] + 1
                )
            previous = run
            yield None if is_linked else f"task {record.name}: run {run['id'][:8]} is not linked"


def one_active(observed: Observed) -> Iterator[str | None]:
    for record in observed.records.values():
        active = [run["id"][:8] for run in record.runs if run["ended_at"] is None]
        yield None if len(active) <= 1 else f"task {record.name} has open runs {active}"


def leases_last(observed: Observed) -> Iterator[str | None]:
    """A lease lasts for longer than its worker may run, so nobody takes a task from a worker."""
    for change in observed.changes:
        run = change.new.run if change.new is not None else None
        if run is not None and (change.old is None or change.old.run_id != run.id):
            lease = run.lease_expires_at - run.started_at
            name = observed.name_of(change.task_id)
            text = f"task {name}: a lease of {lease}, a worker may run for {observed.worker_limit}"
            yield None if lease > observed.worker_limit else text


def retries_recounted(observed: Observed) -> Iterator[str | None]:
    for task_id, record in observed.records.items():
        types = {event["type"] for event in record.history}
        if record.task["repeat"] is not None or types & _CORRECTING_EVENTS:
            continue
        if task_id in observed.newer_ids:
            continue  # the journal skips a change that it cannot read, such as an edit
        counted = sum(entry["counted"] for entry in record.errors)
        is_same = counted == record.task["retry_count"]
        text = f"task {record.name}: retry_count {record.task['retry_count']}, {counted} failures"
        yield None if is_same else text
