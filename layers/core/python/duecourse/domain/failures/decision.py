"""What a failure leads to: a pure function of the failure, its policy and all the counts."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from duecourse.domain.errors import BUDGET_EXCEEDED_CODE
from duecourse.domain.failures.adaptive_backoff import TriesBySeconds, adapted_delay
from duecourse.domain.failures.diagnosis import Diagnosis
from duecourse.domain.failures.failure import Failure
from duecourse.domain.failures.policy import Category, Limits, Policy
from duecourse.domain.failures.subject import Subject
from duecourse.domain.origin import Origin
from duecourse.domain.tasks.adapted_delay import Adapted
from duecourse.domain.tasks.recovery_action import Action
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.wait import Wait, WaitReason
from duecourse.domain.text.redaction import cut

LONGEST_WAIT = timedelta(hours=24)
SHORTEST_SERVER_TIME = timedelta(minutes=1)
NOT_ATTEMPTED_WAIT = timedelta(minutes=1)
FREE_ATTEMPTS = 5  # over half an hour: what is not there by then counts like any failure
WORDS = 200
# Where a failure came from may settle what is done, whatever kind it was.
_ACTION_OF = {
    Origin.SUBJECT: Action.GIVE_UP,
    Origin.UNVERIFIED: Action.GIVE_UP,
    Origin.LOGIC: Action.AWAIT_FIX,
}
_ORDINAL = ("First", "Second", "Third")


@dataclass(frozen=True, kw_only=True, slots=True)
class Situation:
    """What is known when the failure comes in. `retry_count` is before it; `salt` spreads the
    retries and stays the same when a decision is repeated. `is_in_doubt`: the effect may have
    happened, and once more could do harm; `asks_person`: only a person can tell by now. `budget`
    is the one that its calls are paid from. `tries` is how long waits have worked for this
    category; empty where the policy alone decides."""

    retry_count: int
    max_retries: int
    failed_at: datetime
    budget_resets_at: datetime
    attempt: int = 1
    salt: str = ""
    has_spec: bool = False
    subject: Subject | None = None
    origin: Origin = Origin.WORK
    asks_person: bool = False
    is_in_doubt: bool = False
    budget: str | None = None
    tries: TriesBySeconds = field(default_factory=dict)

    @property
    def is_free(self) -> bool:
        """Something of ours was not there, and is given some time before that counts."""
        return self.origin is Origin.NOT_ATTEMPTED and self.attempt <= FREE_ATTEMPTS

    @property
    def was_attempted(self) -> bool:
        return not self.is_free and self.origin is not Origin.SUBJECT

    @property
    def concerns_subject(self) -> bool:
        """Neither a bug of ours nor a person's silence says anything about the subject."""
        return self.was_attempted and self.origin not in (Origin.LOGIC, Origin.UNVERIFIED)


@dataclass(frozen=True, kw_only=True, slots=True)
class Decision:
    """`delay` is before jitter, `due_at` after it; both None where nothing is tried again.

    `retry_count` and `subject` are as they stand after the failure. `wait` says what a retry waits
    for besides its time. `adapted` tells why the delay is not the policy's.
    """

    category: Category
    counts: bool
    status: Status
    action: Action
    retry_count: int
    max_retries: int
    delay: timedelta | None = None
    due_at: datetime | None = None
    wait: Wait | None = None
    guidance: str | None = None
    subject: Subject | None = None
    adapted: Adapted | None = None


def decide(
    failure: Failure, diagnosis: Diagnosis, policy: Policy, situation: Situation
) -> Decision:
    category = policy.categories[diagnosis.category]
    adapted = _adapted(category, situation)
    wait = _wait(failure, category, situation, adapted)
    subject = _subject_after(failure, diagnosis, category, situation, wait)
    counts = category.counts and situation.was_attempted
    limit = _limit(category, situation)
    action = _action(category, policy, situation)
    if subject is not None and subject.was_given_up:
        action = Action.GIVE_UP
    if situation.is_in_doubt and action in (Action.GIVE_UP, Action.MARK_AS_BLOCKED):
        action = Action.ASK_PERSON
    status = _status(action)
    is_retried = status is Status.PENDING
    due_at = _due_at(wait, category, policy, situation) if is_retried else None
    waits_for_budget = action is Action.WAIT_FOR_BUDGET
    return Decision(
        category=category,
        counts=counts,
        status=status,
        action=action,
        retry_count=situation.retry_count + counts,
        max_retries=limit,
        delay=wait if is_retried else None,
        due_at=due_at,
        wait=_for_budget(failure, situation, due_at) if waits_for_budget else None,
        guidance=_guidance(action, diagnosis, limit, situation),
        subject=subject,
        adapted=adapted if adapted and is_retried and wait == adapted.delay else None,
    )


def _limit(category: Category, situation: Situation) -> int:
    if category.limit is None:
        return situation.max_retries
    return min(category.limit, situation.max_retries)


def _action(category: Category, policy: Policy, situation: Situation) -> Action:
    if situation.asks_person:
        return Action.ASK_PERSON
    if situation.is_free:
        return Action.RETRY
    if situation.origin in _ACTION_OF:
        return _ACTION_OF[situation.origin]
    if not category.counts:
        return Action.WAIT_FOR_BUDGET if category.until_budget_clears else Action.RETRY
    # Runs count this one too: the third of three is final. Retries count those that follow it.
    spent = situation.retry_count + (policy.limits is Limits.RUNS)
    if spent >= _limit(category, situation):
        return Action.MARK_AS_BLOCKED if policy.ladder else Action.GIVE_UP
    if not policy.ladder:
        return Action.RETRY
    step = policy.ladder[min(situation.retry_count, len(policy.ladder) - 1)]
    refreshes = category.needs_spec_refresh and situation.has_spec
    if step is Action.RETRY_WITH_SPEC_REFRESH and not refreshes:
        return Action.RETRY_WITH_GUIDANCE
    return step


def _status(action: Action) -> Status:
    match action:
        case Action.RETRY | Action.RETRY_WITH_GUIDANCE | Action.WAIT_FOR_BUDGET:
            return Status.PENDING
        case Action.GIVE_UP:
            return Status.FAILED
        case _:
            return Status.BLOCKED


def _adapted(category: Category, situation: Situation) -> Adapted | None:
    if not situation.was_attempted:
        return None
    return adapted_delay(category, situation.retry_count, situation.tries)


def _wait(
    failure: Failure, category: Category, situation: Situation, adapted: Adapted | None
) -> timedelta:
    """What the server asks for can only raise the wait, but for a rate limit: it knows best."""
    if not situation.was_attempted:
        doublings = min(situation.attempt, FREE_ATTEMPTS) - 1
        return NOT_ATTEMPTED_WAIT * (1 << doublings)
    own = adapted.delay if adapted else category.delay(situation.retry_count)
    if category.until_budget_clears:
        own = max(situation.budget_resets_at - situation.failed_at, timedelta(0))
    asked = failure.retry_after
    if asked is not None and category.server_time_wins:
        own = SHORTEST_SERVER_TIME
    return min(max(own, asked or own), LONGEST_WAIT)


def _due_at(wait: timedelta, category: Category, policy: Policy, situation: Situation) -> datetime:
    # A budget clears for all at once, and lets through no more than it can pay for.
    share = 0.0 if category.until_budget_clears else policy.jitter * fraction(situation.salt)
    return situation.failed_at + wait * (1 + share)


def _for_budget(failure: Failure, situation: Situation, until: datetime | None) -> Wait:
    """The budget is named where it is one of ours: a provider may have its own."""
    is_ours = failure.code == BUDGET_EXCEEDED_CODE and situation.budget is not None
    named = {"budget": situation.budget} if is_ours else {}
    detail = {**named, "message": cut(failure.message, WORDS)}
    return Wait(WaitReason.BUDGET, until=until, detail=detail)


def fraction(salt: str) -> float:
    """From 0 up to 1, always the same for the same salt."""
    return int.from_bytes(hashlib.sha256(salt.encode()).digest()[:4], "big") / 2**32


def _subject_after(
    failure: Failure,
    diagnosis: Diagnosis,
    category: Category,
    situation: Situation,
    wait: timedelta,
) -> Subject | None:
    subject = situation.subject
    if subject is None or not situation.concerns_subject:
        return None
    is_blamed = category.counts and diagnosis.blames_subject
    if is_blamed:
        subject = subject.counted(limit=category.subject_limit)
    cooldowns = [subject.cooldown_until] if subject.cooldown_until else []
    if is_blamed and category.subject_limit is not None and wait:
        cooldowns.append(situation.failed_at + wait)
    return subject.tried(
        category.name,
        failure.message,
        at=situation.failed_at,
        cooldown_until=max(cooldowns, default=None),
    )


def _guidance(action: Action, diagnosis: Diagnosis, limit: int, situation: Situation) -> str | None:
    """What is said to whoever tries next; None for actions that are no step of a ladder."""
    fix, failures = diagnosis.fix, situation.retry_count + 1
    if diagnosis.location is not None:
        place = diagnosis.location
        fix += f" It points to {place.file}" + (f", line {place.line}." if place.line else ".")
    match action:
        case Action.RETRY_WITH_GUIDANCE if situation.retry_count == 0:
            return fix
        case Action.RETRY_WITH_GUIDANCE:
            ordinal = _ORDINAL[min(situation.retry_count, len(_ORDINAL) - 1)]
            other = " Take an entirely different approach." if situation.retry_count >= 2 else ""
            return f"{ordinal} retry. {fix}{other}"
        case Action.RETRY_WITH_SPEC_REFRESH:
            return f"It failed {failures} times: the specification may be unclear. {fix}"
        case Action.ESCALATE_TO_HUMAN:
            return f"It failed {failures} times and needs a person to look at it. {fix}"
        case Action.MARK_AS_BLOCKED:
            return f"No retry is left ({limit} for {diagnosis.category}). {fix}"
    return None
