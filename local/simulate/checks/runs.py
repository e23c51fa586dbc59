"""Invariants of runs and of the retries that they count."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from duecourse.domain.tasks.status import Status

from local.simulate.observed import Observed, changes_of_tasks

# After these a person, or a late report, may have changed what counts.
_CORRECTING_EVENTS = frozenset(
    f"task:{one}"
    for one in ("changed", "unblocked", "resolved", "reclassified", "corrected", "resumed")
)


def linked(observed: Observed) -> Iterator[str | None]:
    """Attempts at one occurrence are numbered from 1, and each names the one before it."""
    for record in observed.records.values():
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


def retries_counted(observed: Observed) -> Iterator[str | None]:
    """`retry_count` grows by one with a counted failure, and never without one.

    It becomes 0 with a new occurrence, a new time or a person's retry, and it shrinks by one if
    the last failure is corrected.
    """
    for old, new in changes_of_tasks(observed):
        grown = new.retry_count - old.retry_count
        is_reset = new.retry_count == 0
        if _is_counted_failure(old, new):
            is_correct = grown == 1 or (is_reset and new.nominal_at != old.nominal_at)
        else:
            is_correct = grown == 0 or is_reset or _is_redecided(old, new)
        text = (
            f"task {observed.name_of(new.id)}: retry_count {old.retry_count} to {new.retry_count}"
        )
        yield None if is_correct else f"{text} at version {new.version}"


def _is_counted_failure(old: Any, new: Any) -> bool:
    run = new.run
    has_ended = run is not None and run.ended_at is not None and old.run != run
    has_just_ended = has_ended and old.run is not None and old.run.ended_at is None
    return bool(has_just_ended and run.diagnosis is not None and run.diagnosis.counted)


def _is_redecided(old: Any, new: Any) -> bool:
    """Return whether a failure that had ended its run was classified again or corrected."""
    return bool(old.run and new.run and old.run.ended_at and old.run != new.run)


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


def none_after_cancellation(observed: Observed) -> Iterator[str | None]:
    """What the API has acknowledged to be cancelled is not run again.

    An effect of a run that started before may come later, if its worker was taken for dead.
    """
    for change in observed.changes:
        cancelled_at = observed.cancelled.get(change.task_id or "")
        if cancelled_at is not None and _is_start(change.old, change.new):
            is_later = change.written_at > cancelled_at
            name = observed.name_of(change.task_id)
            text = f"task {name} was cancelled at {cancelled_at} and ran at {change.written_at}"
            yield text if is_later else None


def _is_start(old: Any, new: Any) -> bool:
    """Return whether a worker claimed the task. What the stream says is not told by its clock."""
    is_running = new is not None and new.status is Status.IN_PROGRESS
    return is_running and (old is None or old.run_id != new.run_id)
