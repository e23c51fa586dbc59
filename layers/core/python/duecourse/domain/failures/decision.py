"""Decide what follows a failure, from the diagnosis, the policy and the counts so far.

`lifecycle/apply_failure` writes the decision, `retry_count` included, into the task.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from duecourse.domain.errors import BUDGET_EXCEEDED_CODE
from duecourse.domain.failures.diagnosis import Diagnosis
from duecourse.domain.failures.failure import Failure
from duecourse.domain.failures.failure_context import FailureContext
from duecourse.domain.failures.guidance import format_guidance
from duecourse.domain.failures.policy import Category, LimitUnit, Policy
from duecourse.domain.failures.retry_delay import (
    RetryDelay,
    adapt_policy_delay,
    choose_delay,
    jittered_due_at,
)
from duecourse.domain.failures.subject import Subject
from duecourse.domain.origin import Origin
from duecourse.domain.tasks.adapted_delay import AdaptedDelay
from duecourse.domain.tasks.failure_kind import ClearsBy
from duecourse.domain.tasks.recovery_action import Action
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.wait import Wait, WaitReason
from duecourse.domain.text.redaction import truncate_middle

MAX_MESSAGE_LENGTH = 200
# For these origins the category does not matter.
_ACTION_BY_ORIGIN = {
    Origin.SUBJECT: Action.GIVE_UP,
    Origin.UNVERIFIED: Action.GIVE_UP,
    Origin.LOGIC: Action.AWAIT_FIX,
}
_ORIGINS_OF_WORK = (Origin.WORK, Origin.ANSWER)  # somebody else said what went wrong


@dataclass(frozen=True, kw_only=True, slots=True)
class Decision:
    """What happens to the task after a failure.

    `delay` excludes jitter and `due_at` includes it; both are None if nothing is retried.
    `retry_count` and `subject` are the values after the failure. `wait`: what the retry waits for
    besides its delay. `adapted_delay`: set if the delay differs from the policy's.
    `blames_subject`: whether a subject counts such a failure.
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
    blames_subject: bool = True


def decide(
    failure: Failure, diagnosis: Diagnosis, policy: Policy, context: FailureContext
) -> Decision:
    """Return what follows the failure. Whether it counts as a retry is decided here alone."""
    category = policy.categories[diagnosis.category]
    adapted = adapt_policy_delay(category, context)
    is_blamed = _is_subject_blamed(diagnosis, category, context)
    delay = _choose_delay(failure, category, context, adapted, is_blamed=is_blamed)
    subject = _update_subject(failure, diagnosis, category, context, delay, is_blamed=is_blamed)
    is_counted = context.is_attempted and not _waits_for_own_budget(category, context)
    limit = _retry_limit(category, context)
    retry_at = jittered_due_at(delay, category, policy, context)
    is_late = _is_past_deadline(category, context, retry_at)
    action = _choose_action(diagnosis, category, policy, context, is_late=is_late)
    action = _end_otherwise(action, subject, context)
    status = _status_after(action)
    is_retried = status is Status.PENDING
    due_at = retry_at if is_retried else None
    is_budget_wait = action is Action.WAIT_FOR_BUDGET
    is_past_deadline = is_late and context.retry_count < limit
    is_adapted = adapted is not None and is_retried and delay.delay == adapted.delay
    return Decision(
        category=category,
        is_counted=is_counted,
        status=status,
        action=action,
        retry_count=context.retry_count + is_counted,
        max_retries=limit,
        delay=delay.delay if is_retried else None,
        due_at=due_at,
        wait=_budget_wait(failure, context, due_at) if is_budget_wait else None,
        guidance=format_guidance(
            action, diagnosis, limit, context, is_past_deadline=is_past_deadline
        ),
        subject=subject,
        adapted_delay=adapted if is_adapted else None,
        blames_subject=_blames_subject(diagnosis, category),
    )


def _end_otherwise(action: Action, subject: Subject | None, context: FailureContext) -> Action:
    """Return the action, or the one that replaces it if the subject or the effect demands it."""
    if subject is not None and subject.is_given_up:
        action = Action.GIVE_UP
    is_end = action in (Action.GIVE_UP, Action.MARK_AS_BLOCKED)
    return Action.ASK_PERSON if context.is_indeterminate and is_end else action


def _blames_subject(diagnosis: Diagnosis, category: Category) -> bool:
    """Return whether the failure counts against a subject. A missing right or key never does."""
    is_access = diagnosis.kind.clears_by is ClearsBy.PERSON
    return diagnosis.blames_subject and category.counts and not is_access


def _is_subject_blamed(diagnosis: Diagnosis, category: Category, context: FailureContext) -> bool:
    is_recorded = context.subject is not None and context.applies_to_subject
    return is_recorded and _blames_subject(diagnosis, category)


def _choose_delay(
    failure: Failure,
    category: Category,
    context: FailureContext,
    adapted: AdaptedDelay | None,
    *,
    is_blamed: bool,
) -> RetryDelay:
    if is_blamed and context.subject is not None and category.subject_delays:
        own = category.subject_delay(context.subject.failure_count)
        return replace(choose_delay(failure, category, context, own), is_subjects=True)
    own = adapted.delay if adapted else category.delay(context.retry_count)
    return choose_delay(failure, category, context, own)


def _retry_limit(category: Category, context: FailureContext) -> int:
    if category.limit is None:
        return context.max_retries
    return min(category.limit, context.max_retries)


def _waits_for_own_budget(category: Category, context: FailureContext) -> bool:
    """Return whether the failure uses up no retry. Texts and codes of others cannot cause that."""
    return context.is_over_budget and not category.counts


def _choose_action(
    diagnosis: Diagnosis,
    category: Category,
    policy: Policy,
    context: FailureContext,
    *,
    is_late: bool,
) -> Action:
    if context.is_human_required:
        return Action.ASK_PERSON
    if context.is_wait_expired:
        return policy.final_action
    if context.is_uncounted:
        return Action.RETRY
    if context.origin in _ACTION_BY_ORIGIN:
        return _ACTION_BY_ORIGIN[context.origin]
    if diagnosis.kind.clears_by is ClearsBy.PERSON and context.origin in _ORIGINS_OF_WORK:
        return Action.ESCALATE_TO_HUMAN
    return _choose_retry(category, policy, context, is_late=is_late)


def _choose_retry(
    category: Category, policy: Policy, context: FailureContext, *, is_late: bool
) -> Action:
    # A limit in runs includes the failed run: with a limit of 3, the third failure is final.
    spent = context.retry_count + (policy.limit_unit is LimitUnit.RUNS)
    is_spent = spent >= _retry_limit(category, context)
    if (is_spent or is_late) and not _waits_for_own_budget(category, context):
        return category.at_limit or policy.final_action
    if category.until_budget_clears:
        return Action.WAIT_FOR_BUDGET
    if not (policy.ladder and category.counts):
        return Action.RETRY
    step = policy.ladder[min(context.retry_count, len(policy.ladder) - 1)]
    can_refresh_spec = category.needs_spec_refresh and context.has_spec
    if step is Action.RETRY_WITH_SPEC_REFRESH and not can_refresh_spec:
        return Action.RETRY_WITH_GUIDANCE
    return step


def _is_past_deadline(category: Category, context: FailureContext, retry_at: datetime) -> bool:
    """Return whether the retry would come too long after the first failure."""
    if category.deadline is None:
        return False
    first_failed_at = context.first_failed_at or context.failed_at
    return retry_at > first_failed_at + category.deadline


def _status_after(action: Action) -> Status:
    match action:
        case Action.RETRY | Action.RETRY_WITH_GUIDANCE | Action.WAIT_FOR_BUDGET:
            return Status.PENDING
        case Action.GIVE_UP:
            return Status.FAILED
        case _:
            return Status.BLOCKED


def _budget_wait(failure: Failure, context: FailureContext, until: datetime | None) -> Wait:
    """Return the wait for a budget. It names the budget only if it is one of Duecourse's.

    A provider may report a budget of its own.
    """
    is_own_budget = context.is_over_budget and failure.code == BUDGET_EXCEEDED_CODE
    detail = {"budget": context.budget} if is_own_budget and context.budget is not None else {}
    detail["message"] = truncate_middle(failure.message, MAX_MESSAGE_LENGTH)
    return Wait(WaitReason.BUDGET, until=until, detail=detail)


def _update_subject(
    failure: Failure,
    diagnosis: Diagnosis,
    category: Category,
    context: FailureContext,
    delay: RetryDelay,
    *,
    is_blamed: bool,
) -> Subject | None:
    subject = context.subject
    if subject is None or not context.applies_to_subject:
        return None
    if is_blamed:
        subject = subject.count_failure(limit=category.subject_limit)
    cooldowns = [subject.cooldown_until] if subject.cooldown_until else []
    if is_blamed and category.subject_limit is not None and delay.delay:
        cooldowns.append(context.failed_at + delay.delay)
    return subject.record_attempt(
        category.name,
        failure.message,
        kind=diagnosis.kind,
        at=context.failed_at,
        cooldown_until=max(cooldowns, default=None),
    )
