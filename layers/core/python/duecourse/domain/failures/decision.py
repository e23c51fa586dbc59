"""Decides what follows a failure, from the diagnosis, the policy and the counts so far."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from duecourse.domain.errors import BUDGET_EXCEEDED_CODE
from duecourse.domain.failures.adaptive_backoff import RetryOutcomesByDelay, adapt_delay
from duecourse.domain.failures.diagnosis import Diagnosis
from duecourse.domain.failures.failure import Failure
from duecourse.domain.failures.policy import Category, LimitUnit, Policy
from duecourse.domain.failures.subject import Subject
from duecourse.domain.origin import Origin
from duecourse.domain.tasks.adapted_delay import AdaptedDelay
from duecourse.domain.tasks.recovery_action import Action
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.wait import Wait, WaitReason
from duecourse.domain.text.redaction import truncate_middle

MAX_DELAY = timedelta(hours=24)
MIN_RETRY_AFTER = timedelta(minutes=1)
NOT_ATTEMPTED_DELAY = timedelta(minutes=1)
UNCOUNTED_ATTEMPTS = 5  # about half an hour of retries; later ones count like any failure
WORDS = 200
# For these origins the category does not matter.
_ACTION_BY_ORIGIN = {
    Origin.SUBJECT: Action.GIVE_UP,
    Origin.UNVERIFIED: Action.GIVE_UP,
    Origin.LOGIC: Action.AWAIT_FIX,
}
_ORDINALS = ("First", "Second", "Third")


@dataclass(frozen=True, kw_only=True, slots=True)
class FailureContext:
    """What is known when the failure is recorded.

    `retry_count`: the count before this failure.
    `jitter_seed`: spreads retries; the same seed gives the same decision again.
    `is_indeterminate`: the effect may have happened, and repeating it could do harm.
    `is_human_required`: only a person can still tell whether the effect happened.
    `budget`: the name of the budget that pays for the task's calls.
    `retry_outcomes`: how retries of this category went, by delay; if empty, the policy's delay is
    kept.
    """

    retry_count: int
    max_retries: int
    failed_at: datetime
    budget_resets_at: datetime
    attempt: int = 1
    jitter_seed: str = ""
    has_spec: bool = False
    subject: Subject | None = None
    origin: Origin = Origin.WORK
    is_human_required: bool = False
    is_indeterminate: bool = False
    budget: str | None = None
    retry_outcomes: RetryOutcomesByDelay = field(default_factory=dict)

    @property
    def is_uncounted(self) -> bool:
        """Return whether Duecourse itself failed, and not too often to leave it uncounted."""
        return self.origin is Origin.NOT_ATTEMPTED and self.attempt <= UNCOUNTED_ATTEMPTS

    @property
    def is_attempted(self) -> bool:
        return not self.is_uncounted and self.origin is not Origin.SUBJECT

    @property
    def applies_to_subject(self) -> bool:
        """Return whether the subject records this failure.

        A bug in the handler or a missed verification says nothing about the subject.
        """
        return self.is_attempted and self.origin not in (Origin.LOGIC, Origin.UNVERIFIED)


@dataclass(frozen=True, kw_only=True, slots=True)
class Decision:
    """What happens to the task after a failure.

    `delay` excludes jitter and `due_at` includes it; both are None if nothing is retried.
    `retry_count` and `subject` are the values after the failure. `wait`: what the retry waits for
    besides its delay. `adapted_delay`: set if the delay differs from the policy's.
    """

    category: Category
    is_counted: bool
    status: Status
    action: Action
    retry_count: int
    max_retries: int
    delay: timedelta | None = None
    due_at: datetime | None = None
    wait: Wait | None = None
    guidance: str | None = None
    subject: Subject | None = None
    adapted_delay: AdaptedDelay | None = None


def decide(
    failure: Failure, diagnosis: Diagnosis, policy: Policy, context: FailureContext
) -> Decision:
    category = policy.categories[diagnosis.category]
    adapted = _adapt_policy_delay(category, context)
    wait = _choose_delay(failure, category, context, adapted)
    subject = _update_subject(failure, diagnosis, category, context, wait)
    counts = category.counts and context.is_attempted
    limit = _retry_limit(category, context)
    action = _choose_action(category, policy, context)
    if subject is not None and subject.is_given_up:
        action = Action.GIVE_UP
    if context.is_indeterminate and action in (Action.GIVE_UP, Action.MARK_AS_BLOCKED):
        action = Action.ASK_PERSON
    status = _status_after(action)
    is_retried = status is Status.PENDING
    due_at = _jittered_due_at(wait, category, policy, context) if is_retried else None
    waits_for_budget = action is Action.WAIT_FOR_BUDGET
    return Decision(
        category=category,
        is_counted=counts,
        status=status,
        action=action,
        retry_count=context.retry_count + counts,
        max_retries=limit,
        delay=wait if is_retried else None,
        due_at=due_at,
        wait=_for_budget(failure, context, due_at) if waits_for_budget else None,
        guidance=_format_guidance(action, diagnosis, limit, context),
        subject=subject,
        adapted_delay=adapted if adapted and is_retried and wait == adapted.delay else None,
    )


def _retry_limit(category: Category, context: FailureContext) -> int:
    if category.limit is None:
        return context.max_retries
    return min(category.limit, context.max_retries)


def _choose_action(category: Category, policy: Policy, context: FailureContext) -> Action:
    if context.is_human_required:
        return Action.ASK_PERSON
    if context.is_uncounted:
        return Action.RETRY
    if context.origin in _ACTION_BY_ORIGIN:
        return _ACTION_BY_ORIGIN[context.origin]
    if not category.counts:
        return Action.WAIT_FOR_BUDGET if category.until_budget_clears else Action.RETRY
    # A limit in runs includes the failed run: with a limit of 3, the third failure is final.
    spent = context.retry_count + (policy.limit_unit is LimitUnit.RUNS)
    if spent >= _retry_limit(category, context):
        return Action.MARK_AS_BLOCKED if policy.ladder else Action.GIVE_UP
    if not policy.ladder:
        return Action.RETRY
    step = policy.ladder[min(context.retry_count, len(policy.ladder) - 1)]
    refreshes = category.needs_spec_refresh and context.has_spec
    if step is Action.RETRY_WITH_SPEC_REFRESH and not refreshes:
        return Action.RETRY_WITH_GUIDANCE
    return step


def _status_after(action: Action) -> Status:
    match action:
        case Action.RETRY | Action.RETRY_WITH_GUIDANCE | Action.WAIT_FOR_BUDGET:
            return Status.PENDING
        case Action.GIVE_UP:
            return Status.FAILED
        case _:
            return Status.BLOCKED


def _adapt_policy_delay(category: Category, context: FailureContext) -> AdaptedDelay | None:
    if not context.is_attempted:
        return None
    return adapt_delay(category, context.retry_count, context.retry_outcomes)


def _choose_delay(
    failure: Failure, category: Category, context: FailureContext, adapted: AdaptedDelay | None
) -> timedelta:
    """Return the delay without jitter, at most `MAX_DELAY`.

    The server's Retry-After can only raise the delay, except that it replaces the delay of a
    category with `server_time_wins`, down to `MIN_RETRY_AFTER`.
    """
    if not context.is_attempted:
        doublings = min(context.attempt, UNCOUNTED_ATTEMPTS) - 1
        return NOT_ATTEMPTED_DELAY * (1 << doublings)
    own = adapted.delay if adapted else category.delay(context.retry_count)
    if category.until_budget_clears:
        own = max(context.budget_resets_at - context.failed_at, timedelta(0))
    asked = failure.retry_after
    if asked is not None and category.server_time_wins:
        own = MIN_RETRY_AFTER
    return min(max(own, asked or own), MAX_DELAY)


def _jittered_due_at(
    delay: timedelta, category: Category, policy: Policy, context: FailureContext
) -> datetime:
    # A budget needs no jitter: it admits only as many tasks as it can pay for.
    share = (
        0.0
        if category.until_budget_clears
        else policy.jitter * stable_fraction(context.jitter_seed)
    )
    return context.failed_at + delay * (1 + share)


def _for_budget(failure: Failure, situation: FailureContext, until: datetime | None) -> Wait:
    """Return the wait for a budget. It names the budget only if it is one of Duecourse's.

    A provider may report a budget of its own.
    """
    is_ours = failure.code == BUDGET_EXCEEDED_CODE and situation.budget is not None
    named = {"budget": situation.budget} if is_ours else {}
    detail = {**named, "message": truncate_middle(failure.message, WORDS)}
    return Wait(WaitReason.BUDGET, until=until, detail=detail)


def stable_fraction(seed: str) -> float:
    """Return a fraction from 0 up to but not including 1, always the same for the same `seed`."""
    return int.from_bytes(hashlib.sha256(seed.encode()).digest()[:4], "big") / 2**32


def _update_subject(
    failure: Failure,
    diagnosis: Diagnosis,
    category: Category,
    context: FailureContext,
    delay: timedelta,
) -> Subject | None:
    subject = context.subject
    if subject is None or not context.applies_to_subject:
        return None
    is_blamed = category.counts and diagnosis.blames_subject
    if is_blamed:
        subject = subject.count_failure(limit=category.subject_limit)
    cooldowns = [subject.cooldown_until] if subject.cooldown_until else []
    if is_blamed and category.subject_limit is not None and delay:
        cooldowns.append(context.failed_at + delay)
    return subject.record_attempt(
        category.name,
        failure.message,
        at=context.failed_at,
        cooldown_until=max(cooldowns, default=None),
    )


def _format_guidance(
    action: Action, diagnosis: Diagnosis, limit: int, context: FailureContext
) -> str | None:
    """Return the hint for the next attempt, or None if `action` is not a step of a ladder."""
    fix, failures = diagnosis.fix, context.retry_count + 1
    if diagnosis.location is not None:
        place = diagnosis.location
        fix += f" It points to {place.file}" + (f", line {place.line}." if place.line else ".")
    match action:
        case Action.RETRY_WITH_GUIDANCE if context.retry_count == 0:
            return fix
        case Action.RETRY_WITH_GUIDANCE:
            ordinal = _ORDINALS[min(context.retry_count, len(_ORDINALS) - 1)]
            other = " Take an entirely different approach." if context.retry_count >= 2 else ""
            return f"{ordinal} retry. {fix}{other}"
        case Action.RETRY_WITH_SPEC_REFRESH:
            return f"It failed {failures} times: the specification may be unclear. {fix}"
        case Action.ESCALATE_TO_HUMAN:
            return f"It failed {failures} times and needs a person to look at it. {fix}"
        case Action.MARK_AS_BLOCKED:
            return f"No retry is left ({limit} for {diagnosis.category}). {fix}"
    return None
