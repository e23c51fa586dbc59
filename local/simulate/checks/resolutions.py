"""Invariants of a person's answer that an unknown effect happened: it is not repeated."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from duecourse.domain.tasks.run import MutationStatus, RunStatus
from duecourse.domain.time.instant import from_text

from local.simulate.observed import Observed

_ROUNDING = timedelta(seconds=1)  # of the time of a write
_APPLIED = {"outcome": "applied"}


def not_repeated(observed: Observed) -> Iterator[str | None]:
    """An effect that a person resolved as applied is not attempted again, and does not happen."""
    for number, change in _list_resolutions(observed):
        name, key = observed.name_of(change.task_id), change.old.run.mutation.idempotency_key
        attempts = [one for one in observed.changes[number:] if _is_attempt(one, change, key)]
        text = f"task {name} was resolved as applied at {change.written_at}, and"
        yield f"{text} attempted at {attempts[0].written_at}" if attempts else None
        if change.old.run.status is not RunStatus.CRASHED:  # its worker may still be alive
            latest = change.written_at + _ROUNDING
            effects = [
                one.at for one in observed.effects.get(key, ()) if from_text(one.at) > latest
            ]
            yield f"{text} had its effect at {effects}" if effects else None


def _list_resolutions(observed: Observed) -> Iterator[tuple[int, Any]]:
    """Yield the writes with which the API resolved a run as applied, and their numbers."""
    resolved = {
        (one.body["id"], one.body["version"])
        for one in observed.answers
        if one.target.endswith("/resolve") and one.is_success and one.request == _APPLIED
    }
    for number, change in enumerate(observed.changes):
        old, new = change.old, change.new
        if old is None or new is None or old.run is None or new.version == old.version:
            continue
        if (new.id, new.version) in resolved:
            yield number, change


def _is_attempt(change: Any, resolution: Any, key: str) -> bool:
    """Return whether the effect with this key is about to begin, or is recorded as not applied."""
    if change.task_id != resolution.task_id or change.new is None or change.new.run is None:
        return False
    mutation = change.new.run.mutation
    return bool(mutation.idempotency_key == key and mutation.status is not MutationStatus.APPLIED)
