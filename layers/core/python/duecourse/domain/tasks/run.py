"""A run: one attempt at an occurrence. Its status is apart from its phase."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from duecourse.domain.origin import Effect
from duecourse.domain.tasks.run_diagnosis import RunDiagnosis
from duecourse.domain.tasks.wait import Wait


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

    @property
    def is_unsuccessful(self) -> bool:
        return self.partition(":")[0] in ("paused", "failed", "crashed")


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


class IndeterminatePolicy(StrEnum):
    """What is done about an effect that may or may not have happened."""

    REPEAT = "repeat"  # once more does no harm
    RECONCILE = "reconcile"  # the handler may find out
    ASK_PERSON = "ask"  # only a person can tell


@dataclass(frozen=True, kw_only=True, slots=True)
class ProviderCall:
    """What a provider was asked and took, for the audit log. `cost` in micro-dollars."""

    provider: str
    model: str | None = None
    milliseconds: int | None = None
    cost: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class PreviousFailure:
    """What the attempt before a retry failed of. `waited` is the delay in between, in seconds and
    before jitter; None where it was not the policy's own, or was not kept to."""

    category: str
    fingerprint: str | None = None
    delay_seconds: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Mutation:
    """The one outside effect. `key` is the same for every attempt at one occurrence."""

    idempotency_key: str
    status: MutationStatus | None = None
    result: Any = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Run:
    """`id` is also the lease's owner token: only the worker that made it may end the run.

    `diagnosis` is how its error was classified and what was decided; None where it did not fail.
    `in_doubt` and `emits` are what its handler said when the run began: whoever recovers the run
    does not know the handler. `is_early` tells a run that was asked for ahead of its occurrence.
    `verify_by` is until when somebody may say whether the work was done well; `asked_verifier` how
    often a provider was asked that. `is_verified`: somebody said yes. `follows` is for learning
    what retries are good for. `waited_for` is what kept it waiting until after the next occurrence
    of its series. `late_since` is when it was due in truth, where a worker vanished and this run
    makes up for it.
    """

    id: str
    attempt: int
    reason: Reason
    phase: Phase = Phase.PREPARING
    status: RunStatus = RunStatus.ACTIVE
    nominal_at: datetime
    started_at: datetime
    lease_expires_at: datetime
    handler_version: str
    mutation: Mutation
    retry_of: str | None = None
    prepare_result: Any = None
    error: str | None = None
    category: str | None = None
    diagnosis: RunDiagnosis | None = None
    ended_at: datetime | None = None
    indeterminate_policy: IndeterminatePolicy = IndeterminatePolicy.REPEAT
    has_emit: bool = False
    is_early: bool = False
    call: ProviderCall | None = None
    verify_until: datetime | None = None
    verifier_attempts: int = 0
    is_verified: bool = False
    previous_failure: PreviousFailure | None = None
    waited_for: Wait | None = None
    originally_due_at: datetime | None = None

    @property
    def is_applied(self) -> bool:
        return self.mutation.status is MutationStatus.APPLIED

    @property
    def is_failure(self) -> bool:
        """The run ended with an error. One that only waits for an approval has none."""
        has_error = self.error is not None or self.category is not None
        is_crash = self.status is RunStatus.CRASHED
        return is_crash or (self.status.is_unsuccessful and has_error)

    @property
    def is_indeterminate(self) -> bool:
        return self.mutation.status is MutationStatus.INDETERMINATE

    @property
    def is_unsafe_to_repeat(self) -> bool:
        """The effect may have happened, and to bring it about once more could do harm."""
        return self.is_indeterminate and self.indeterminate_policy is not IndeterminatePolicy.REPEAT

    def end(self, status: RunStatus, *, at: datetime) -> Run:
        return replace(self, status=status, ended_at=at)

    def mark_in_flight(self, prepare_result: Any = None) -> Run:
        """Written down before the effect begins: from now on nobody knows unless told."""
        mutation = replace(self.mutation, status=MutationStatus.IN_FLIGHT)
        return replace(self, phase=Phase.MUTATING, mutation=mutation, prepare_result=prepare_result)

    def mark_applied(self, result: Any) -> Run:
        mutation = replace(self.mutation, status=MutationStatus.APPLIED, result=result)
        return replace(self, phase=Phase.MUTATED, mutation=mutation)

    def with_mutation_status(self, status: MutationStatus) -> Run:
        return replace(self, mutation=replace(self.mutation, status=status))

    def commit(self, *, at: datetime) -> Run:
        return replace(self, phase=Phase.COMMITTED).end(RunStatus.COMMITTED, at=at)

    @property
    def effect_after_crash(self) -> Effect:
        """What can be said of the effect when nobody is left who saw it."""
        if self.is_applied:
            return Effect.APPLIED
        is_open = self.mutation.status in (MutationStatus.IN_FLIGHT, MutationStatus.INDETERMINATE)
        return Effect.UNKNOWN if is_open else Effect.NONE
