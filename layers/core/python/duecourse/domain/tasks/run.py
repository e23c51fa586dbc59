"""A run: one attempt at one occurrence of a task.

Its phase says how far it got, its status how it ended.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from duecourse.domain.origin import Effect, Origin
from duecourse.domain.tasks.run_diagnosis import RunDiagnosis
from duecourse.domain.tasks.wait import Wait

UNKNOWN_CATEGORY = "unknown"


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
    """What to do if nobody knows whether the effect happened."""

    REPEAT = "repeat"  # the effect is idempotent: run it again
    RECONCILE = "reconcile"  # call the handler's `reconcile`
    ASK_PERSON = "ask"  # ask a person


@dataclass(frozen=True, kw_only=True, slots=True)
class ProviderCall:
    """One call to a provider, for the audit log. `cost` is in micro-dollars."""

    provider: str
    model: str | None = None
    milliseconds: int | None = None
    cost: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class PreviousFailure:
    """The failure that this run retries.

    `delay_seconds` is the delay before this retry, without jitter. It is None if the policy did
    not choose the delay or the retry ran at another time.
    """

    category: str
    fingerprint: str | None = None
    delay_seconds: int | None = None


@dataclass(frozen=True, slots=True)
class FirstFailure:
    """The first failure of an occurrence. A recovery is counted on its UTC day and category."""

    day: str
    category: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Mutation:
    """The one outside effect of a run.

    Every attempt at one occurrence has the same `idempotency_key`, unless a verifier rejected the
    work before.
    """

    idempotency_key: str
    status: MutationStatus | None = None
    result: Any = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Run:
    """One attempt. `id` is also the lease's owner token: only the worker that made it ends the run.

    `diagnosis`: how the error was classified and what was decided; None if the run did not fail.
    `indeterminate_policy`, `has_emit`: taken from the handler when the run starts, because the code
    that recovers a run does not know the handler.
    `is_early`: the run started ahead of its occurrence, or makes up for an earlier occurrence.
    `verify_until`: the deadline for approving or rejecting the work.
    `verifier_attempts`: how often a provider was asked to verify the work.
    `previous_failure`: used to learn which retries succeed.
    `first_failure`: that of the same occurrence, if its first attempt failed.
    `first_failed_at`: of a retry, when the first failure happened that counts for its limits.
    `waited_for`: what deferred the run until after the next occurrence of its series.
    `originally_due_at`: when the work was due, if this run recovers from an expired lease.
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
    first_failure: FirstFailure | None = None
    first_failed_at: datetime | None = None
    waited_for: Wait | None = None
    originally_due_at: datetime | None = None

    @property
    def ended_or_started_at(self) -> datetime:
        """Return when the run ended, or when it started if its end is not known."""
        return self.ended_at or self.started_at

    @property
    def is_applied(self) -> bool:
        return self.mutation.status is MutationStatus.APPLIED

    @property
    def is_rejected(self) -> bool:
        """Return whether a verifier or a person rejected the work, so that it has to be redone."""
        return self.diagnosis is not None and self.diagnosis.origin is Origin.REJECTED

    @property
    def is_failure(self) -> bool:
        """Return whether the run ended with an error. A run that waits for approval has none."""
        has_error = self.error is not None or self.category is not None
        is_crash = self.status is RunStatus.CRASHED
        return is_crash or (self.status.is_unsuccessful and has_error)

    @property
    def error_category(self) -> str:
        """Return the category of a failed run. Only a run of old code may lack it."""
        return self.category or UNKNOWN_CATEGORY

    @property
    def is_indeterminate(self) -> bool:
        return self.mutation.status is MutationStatus.INDETERMINATE

    @property
    def is_unsafe_to_repeat(self) -> bool:
        """Return whether the effect may have happened and must not simply run again."""
        return self.is_indeterminate and self.indeterminate_policy is not IndeterminatePolicy.REPEAT

    def end(self, status: RunStatus, *, at: datetime) -> Run:
        return replace(self, status=status, ended_at=at)

    def mark_in_flight(self, prepare_result: Any = None) -> Run:
        """Return the run as it is stored before the effect begins.

        If the worker crashes from here on, the effect is unknown.
        """
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
        """Return what the stored run says about its effect if the worker crashed."""
        if self.is_applied:
            return Effect.APPLIED
        is_unknown = self.mutation.status in (
            MutationStatus.IN_FLIGHT,
            MutationStatus.INDETERMINATE,
        )
        return Effect.UNKNOWN if is_unknown else Effect.NONE
