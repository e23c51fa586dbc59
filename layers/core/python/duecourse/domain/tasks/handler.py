"""A handler: the code that performs one type of task. Only `mutate` must be written.

The engine (`usecases/run_phases`) calls `prepare`, `mutate`, `emit` in this order, and after a
crash goes on where the last attempt is known to have been.
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

# What one attempt may take. The worker's own limit is longer: it must still report.
ATTEMPT_TIMEOUT = timedelta(seconds=45)


@dataclass
class RunContext:
    """One attempt at a task, as its handler sees it.

    `key` is the same for every attempt at one occurrence: whoever honours it sees one effect.
    `prepared` is what `prepare` returned, `result` what `mutate` returned, also where an earlier
    attempt did. A handler that asks a provider notes the call in `call`, for the audit log.
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
    """The effect has happened, with this result."""

    result: Any = None


@dataclass(frozen=True)
class NotApplied:
    """The effect has not happened and will not."""


@dataclass(frozen=True)
class Unknown:
    """It cannot be found out."""


ReconcileResult = Applied | NotApplied | Unknown


class Handler:
    """`repeat_is_harmless`: an effect that may have happened is simply brought about again.
    `payload_keys`: the keys that a payload may have besides those of every type; None: any key."""

    idempotent = False
    payload_keys: Collection[str] | None = None

    def keys_for(self, payload: Mapping[str, Any]) -> Collection[str] | None:  # noqa: ARG002
        """`payload_keys`, where they do not depend on what the payload says."""
        return self.payload_keys

    def check(self, payload: Mapping[str, Any]) -> None:
        """Raises ValueError, naming the key, for a payload that nothing can be made of."""

    def prepare(self, context: RunContext) -> Any:
        """All that can be done without an effect outside. May be repeated freely."""

    def release(self, context: RunContext) -> None:
        """The effect will not come in this attempt: what `prepare` took hold of is free again."""

    def mutate(self, context: RunContext) -> Any:
        """The one outside effect; what it returns is kept with the run, as JSON.

        An exception says that the effect did not happen. Where that cannot be said, raise
        InDoubtError.
        """
        raise NotImplementedError

    def emit(self, context: RunContext) -> None:
        """Tell others of `work.result`. May be repeated; the effect itself never is."""

    def reconcile(self, context: RunContext) -> ReconcileResult:  # noqa: ARG002 - what others find out by
        """Find out whether the effect of an attempt that was lost has happened."""
        return Unknown()

    def is_idempotent(self, task: Task) -> bool:
        return self.idempotent or is_declared_idempotent(task.payload)


def check_payload(payload: Mapping[str, Any], handler: Handler) -> None:
    """Raise ValueError naming the key of the payload that the handler does not know or take.

    Only for what callers ask for: a task that was stored with other keys still runs.
    """
    keys = handler.keys_for(payload)
    reject_unknown_keys(payload, None if keys is None else [*keys, *COMMON_KEYS])
    handler.check(payload)


@dataclass(frozen=True)
class HandlerCapabilities:
    """How a handler goes about a task. What it does not do need not be written down."""

    has_prepare: bool = False
    has_emit: bool = False
    indeterminate_policy: IndeterminatePolicy = IndeterminatePolicy.REPEAT


def capabilities_of(handler: Handler, task: Task) -> HandlerCapabilities:
    return HandlerCapabilities(
        has_prepare=_has_override(handler, "prepare"),
        has_emit=_has_override(handler, "emit"),
        indeterminate_policy=_indeterminate_policy(handler, task),
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
