"""The stored form of a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, astuple, fields
from datetime import datetime
from enum import StrEnum
from types import UnionType
from typing import Any, get_type_hints

from duecourse.domain.requests.json import call_to_json, to_plain
from duecourse.domain.tasks.run import (
    FirstFailure,
    Mutation,
    MutationStatus,
    PreviousFailure,
    ProviderCall,
    Run,
)
from duecourse.domain.tasks.run_diagnosis import RunDiagnosis
from duecourse.domain.tasks.wait import Wait
from duecourse.domain.time.instant import from_text


def run_to_stored(run: Run) -> dict[str, Any]:
    """Return the run as it is stored with its task.

    Defaults and duplicates are left out: each kilobyte costs a write unit.
    """
    stored: dict[str, Any] = {}
    for name, default in _STORED_UNLESS.items():
        value = getattr(run, name)
        if name == "mutation":
            stored |= _mutation_to_stored(run.mutation, run.id)
        elif value != default:
            stored[_STORED_NAMES.get(name, name)] = _WRITERS.get(name, to_plain)(value)
    return stored


def run_from_stored(stored: Mapping[str, Any]) -> Run:
    renamed = {_FIELD_NAMES.get(name, name): value for name, value in stored.items()}
    values = {name: _READERS[name](value) for name, value in renamed.items() if name in _READERS}
    return Run(**values, mutation=_mutation_from_stored(stored))


def _mutation_to_stored(mutation: Mutation, run_id: str) -> dict[str, Any]:
    key = None if mutation.idempotency_key == run_id else mutation.idempotency_key
    stored = {"key": key, "mutation": to_plain(mutation.status), "result": mutation.result}
    return {name: value for name, value in stored.items() if value is not None}


def _mutation_from_stored(stored: Mapping[str, Any]) -> Mutation:
    status = stored.get("mutation")
    return Mutation(
        idempotency_key=stored.get("key", stored["id"]),
        status=MutationStatus(status) if status else None,
        result=stored.get("result"),
    )


def _previous_failure_to_stored(previous_failure: PreviousFailure) -> list[Any]:
    """Return a list without field names: it is stored with every retry and must be short."""
    return [previous_failure.category, previous_failure.fingerprint, previous_failure.delay_seconds]


def _previous_failure_from_stored(stored: list[Any]) -> PreviousFailure:
    category, fingerprint, delay_seconds = stored
    return PreviousFailure(category=category, fingerprint=fingerprint, delay_seconds=delay_seconds)


def _reader_of(kind: Any) -> Callable[[Any], Any]:
    """Return the function that converts a stored value to the field type `kind`."""
    if isinstance(kind, UnionType):
        kind = kind.__args__[0]
    if kind is datetime:
        return from_text
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return kind
    return lambda value: value


# Fields of a run in stored order, each with the value at which it is left out.
_STORED_UNLESS = {field.name: field.default for field in fields(Run)} | {
    "phase": MISSING,
    "status": MISSING,
}
# Fields stored under their first name, so that items written by earlier code stay readable.
_STORED_NAMES = {
    "indeterminate_policy": "in_doubt",
    "has_emit": "emits",
    "verify_until": "verify_by",
    "verifier_attempts": "asked_verifier",
    "previous_failure": "follows",
    "originally_due_at": "late_since",
}
_FIELD_NAMES = {stored: name for name, stored in _STORED_NAMES.items()}
_WRITERS: dict[str, Callable[[Any], Any]] = {
    "call": call_to_json,
    "diagnosis": RunDiagnosis.to_stored,
    "previous_failure": _previous_failure_to_stored,
    "first_failure": astuple,
    "waited_for": Wait.to_json,
}
_READERS: dict[str, Callable[[Any], Any]] = {
    **{name: _reader_of(kind) for name, kind in get_type_hints(Run).items()},
    "call": lambda stored: ProviderCall(**stored),
    "diagnosis": RunDiagnosis.from_stored,
    "previous_failure": _previous_failure_from_stored,
    "first_failure": lambda stored: FirstFailure(*stored),
    "waited_for": Wait.from_json,
}
# Stored under this name is only the mutation's status.
del _READERS["mutation"]
