"""A run: one attempt at an occurrence. Its status is apart from its phase."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any


class Phase(StrEnum):
    PREPARING = "preparing"
    PREPARED = "prepared"
    MUTATING = "mutating"
    MUTATED = "mutated"
    EMITTING = "emitting"
    COMMITTED = "committed"


class RunStatus(StrEnum):
    ACTIVE = "active"
    COMMITTED = "committed"
    PAUSED_TRANSIENT = "paused:transient"
    PAUSED_BUDGET = "paused:budget"
    PAUSED_APPROVAL = "paused:approval"
    PAUSED_RECONCILIATION = "paused:reconciliation"
    FAILED_LOGIC = "failed:logic"
    FAILED_PERMANENT = "failed:permanent"
    CRASHED = "crashed"
    CANCELLED = "cancelled"


class Reason(StrEnum):
    FIRST = "first"
    TRANSIENT = "transient"
    LOGIC_FIX = "logic_fix"
    CRASHED_RECOVERY = "crashed_recovery"
    USER_RETRY = "user_retry"
    RECURRENCE = "recurrence"


class MutationStatus(StrEnum):
    IN_FLIGHT = "in_flight"
    APPLIED = "applied"
    FAILED = "failed"
    INDETERMINATE = "indeterminate"


@dataclass(frozen=True, kw_only=True, slots=True)
class Mutation:
    """The one outside effect. `key` is the same for every attempt at one occurrence."""

    key: str
    status: MutationStatus | None = None
    result: Any = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Run:
    """`id` is also the lease's owner token: only the worker that made it may end the run.

    `diagnosis` says how the error was understood and what was decided, for the error log.
    """

    id: str
    attempt: int
    reason: Reason
    mutation: Mutation
    nominal_at: datetime
    started_at: datetime
    lease_expires_at: datetime
    handler_version: str
    retry_of: str | None = None
    phase: Phase = Phase.PREPARING
    status: RunStatus = RunStatus.ACTIVE
    prepare_result: Any = None
    error: str | None = None
    category: str | None = None
    diagnosis: Mapping[str, Any] | None = None
    ended_at: datetime | None = None

    def ended(self, status: RunStatus, *, at: datetime, **changes: Any) -> Run:
        return replace(self, status=status, ended_at=at, **changes)

    def applied(self, result: Any) -> Run:
        mutation = replace(self.mutation, status=MutationStatus.APPLIED, result=result)
        return replace(self, phase=Phase.MUTATED, mutation=mutation)

    def committed(self, *, at: datetime) -> Run:
        return self.ended(RunStatus.COMMITTED, at=at, phase=Phase.COMMITTED)

    def crashed(self, *, at: datetime) -> Run:
        """The worker vanished: an effect that was in flight may or may not have happened."""
        mutation = self.mutation
        if mutation.status is MutationStatus.IN_FLIGHT:
            mutation = replace(mutation, status=MutationStatus.INDETERMINATE)
        return self.ended(RunStatus.CRASHED, at=at, mutation=mutation)
