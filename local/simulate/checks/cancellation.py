"""Invariants of cancellations: what is cancelled is stored so, and has no later effect."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from duecourse.domain.tasks.run import RunStatus
from duecourse.domain.tasks.status import Status
from duecourse.domain.time.instant import from_text

from local.simulate.checks.changes import is_claim
from local.simulate.observed import Observed


def acknowledged_stored(observed: Observed) -> Iterator[str | None]:
    """What the API acknowledged to be cancelled is cancelled by then."""
    moments = dict(_list_cancelled(observed))
    for task_id, at in observed.cancelled.items():
        if task_id not in observed.newer_ids:  # nobody could read that one for a time
            is_stored = task_id in moments and moments[task_id] <= at
            name = observed.name_of(task_id)
            yield None if is_stored else f"task {name} was acknowledged at {at} and not cancelled"


def none_after(observed: Observed) -> Iterator[str | None]:
    """A cancelled task is not claimed, and has no later effect.

    An effect may come later from a run that had started before, if its worker was taken for dead.
    """
    for task_id, at in _list_cancelled(observed):
        claims = [one for one in observed.changes if one.task_id == task_id]
        late = [
            one.written_at for one in claims if one.written_at > at and is_claim(one.old, one.new)
        ]
        name = observed.name_of(task_id)
        yield f"task {name} was cancelled at {at} and claimed at {late}" if late else None
        effects = _list_later_effects(observed, task_id, at)
        yield f"task {name} was cancelled at {at}, effects at {effects}" if effects else None


def _list_cancelled(observed: Observed) -> Iterator[tuple[str, datetime]]:
    """Yield the cancelled tasks, with the time of the write."""
    for change in observed.changes:
        was_cancelled = change.old is not None and change.old.status is Status.CANCELLED
        if change.new is not None and change.new.status is Status.CANCELLED and not was_cancelled:
            yield change.new.id, change.written_at


def _list_later_effects(observed: Observed, task_id: str, at: datetime) -> list[str]:
    runs = [
        change.new.run
        for change in observed.changes
        if change.task_id == task_id and change.new is not None and change.new.run is not None
    ]
    dead = {one.mutation.idempotency_key for one in runs if one.status is RunStatus.CRASHED}
    keys = {one.mutation.idempotency_key for one in runs} - dead
    effects = (effect for key in sorted(keys) for effect in observed.effects.get(key, ()))
    return [effect.at for effect in effects if from_text(effect.at) > at]
