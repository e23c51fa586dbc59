"""The base class of handlers. A handler performs one type of task and must define `mutate`.

`usecases/runs/phase_runner` calls `prepare`, `mutate` and `emit` in this order. After a crash, the
next attempt resumes from the last phase that was stored.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from duecourse.domain.tasks.run import IndeterminatePolicy, ProviderCall
from duecourse.domain.tasks.task import Task
from duecourse.domain.validation.payload_keys import (
    COMMON_KEYS,
    is_declared_idempotent,
    reject_unknown_keys,
)

# Shorter than the worker's own time limit, so that the worker can still report a failure.
ATTEMPT_TIMEOUT = timedelta(seconds=45)


@dataclass
class RunContext:
    """What a handler knows about the current attempt.

    `idempotency_key` is the same for every attempt at one occurrence, unless a verifier rejected
    the work before. `prepared` is what `prepare` returned and `result` what `mutate` returned, in
    this attempt or in an earlier one. A handler that calls a provider sets `call`, for the audit
    log.
    """

    task: Task
    idempotency_key: str
    attempt: int
    run_id: str
    deadline: datetime
    prepared: Any = None
    result: Any = None
    call: ProviderCall | None = None


@dataclass(frozen=True)
class Applied:
    """The effect happened. `result` is what `mutate` would have returned."""

    result: Any = None


@dataclass(frozen=True)
class NotApplied:
    """The effect did not happen and will not happen later."""


@dataclass(frozen=True)
class Unknown:
    """The handler cannot find out whether the effect happened."""


ReconcileResult = Applied | NotApplied | Unknown


class Handler:
    """Performs one type of task.

    `idempotent`: `mutate` may run again if nobody knows whether its effect happened.
    `payload_keys`: the keys allowed in a payload besides those of every type; None allows any key.
    """

    idempotent = False
    payload_keys: Collection[str] | None = None

    def keys_for(self, payload: Mapping[str, Any]) -> Collection[str] | None:  # noqa: ARG002
        """Return the allowed keys. Override it if they depend on the payload's values."""
        return self.payload_keys

    def check(self, payload: Mapping[str, Any]) -> None:
        """Raise ValueError, naming the key, if the payload is invalid."""

    def prepare(self, context: RunContext) -> Any:
        """Do all work that has no outside effect. It may run several times.

        The return value is stored as JSON and passed on as `context.prepared`.
        """

    def release(self, context: RunContext) -> None:
        """Release what `prepare` acquired. Called if `mutate` will not run in this attempt."""

    def mutate(self, context: RunContext) -> Any:
        """Perform the one outside effect. The return value is stored with the run, as JSON.

        An exception means that the effect did not happen. Raise IndeterminateError if the handler
        cannot tell. A TimeoutError, or an exception that shows a bug (such as a TypeError), also
        leaves the effect unknown.
        """
        raise NotImplementedError

    def emit(self, context: RunContext) -> None:
        """Publish `context.result`. `emit` may run several times, without repeating the effect."""

    def reconcile(self, context: RunContext) -> ReconcileResult:  # noqa: ARG002 - what others find out by
        """Find out whether the effect of a lost attempt happened."""
        return Unknown()

    def needs_prepare(self, task: Task) -> bool:  # noqa: ARG002 - what others decide by
        """Return whether `prepare` does anything for the task.

        If not, it is not called: the claim records the effect as in flight, which saves a write.
        """
        return _has_override(self, "prepare")

    def is_idempotent(self, task: Task) -> bool:
        return self.idempotent or is_declared_idempotent(task.payload)


def check_payload(payload: Mapping[str, Any], handler: Handler) -> None:
    """Raise ValueError naming a key of `payload` that the handler does not know or accept.

    Only requests are checked: a task that was stored with other keys still runs.
    """
    keys = handler.keys_for(payload)
    reject_unknown_keys(payload, None if keys is None else [*keys, *COMMON_KEYS])
    handler.check(payload)


@dataclass(frozen=True)
class HandlerCapabilities:
    """Which phases a handler has for a task. Phases it does not have are not stored."""

    has_prepare: bool = False
    has_emit: bool = False
    indeterminate_policy: IndeterminatePolicy = IndeterminatePolicy.REPEAT


def capabilities_of(handler: Handler, task: Task) -> HandlerCapabilities:
    return HandlerCapabilities(
        has_prepare=handler.needs_prepare(task),
        has_emit=_has_override(handler, "emit"),
        indeterminate_policy=_indeterminate_policy(handler, task),
    )


def fixed_capabilities_of(handler: Handler) -> HandlerCapabilities | None:
    """Return the capabilities if they are the same for every task, else None."""
    is_fixed = handler.idempotent and not _has_override(handler, "is_idempotent")
    if not is_fixed or _has_override(handler, "reconcile"):
        return None
    return HandlerCapabilities(
        has_prepare=_has_override(handler, "prepare"), has_emit=_has_override(handler, "emit")
    )


def _indeterminate_policy(handler: Handler, task: Task) -> IndeterminatePolicy:
    if _has_override(handler, "reconcile"):
        return IndeterminatePolicy.RECONCILE
    return (
        IndeterminatePolicy.REPEAT
        if handler.is_idempotent(task)
        else IndeterminatePolicy.ASK_PERSON
    )


def _has_override(handler: Handler, method: str) -> bool:
    return getattr(type(handler), method) is not getattr(Handler, method)
