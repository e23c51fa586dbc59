"""The decisions of the policy `standard`: by kind, by count, by deadline, and for subjects."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from duecourse.domain.failures.decision import Decision, decide
from duecourse.domain.failures.diagnosis import Diagnosis
from duecourse.domain.failures.failure import Failure
from duecourse.domain.failures.failure_context import FailureContext
from duecourse.domain.failures.policy import Category
from duecourse.domain.tasks.failure_kind import Kind
from duecourse.domain.tasks.recovery_action import Action
from duecourse.domain.tasks.status import Status
from hypothesis import given
from hypothesis import strategies as st

from tests.support.builders.failures import BOOM, a_subject, builtin_policies
from tests.support.builders.moments import DAY, HOUR, MINUTE, NOW

SECOND = timedelta(seconds=1)
STANDARD = builtin_policies()["standard"]
WAITING = (
    *(Kind.NETWORK, Kind.SERVER_ERROR, Kind.RATE_LIMIT, Kind.CONFLICT, Kind.CAPACITY),
    Kind.BAD_JSON,
)
ONE_RETRY = (Kind.TIMEOUT, Kind.MEMORY, Kind.DISK, Kind.UNKNOWN, Kind.CRASH)
FOR_A_PERSON = (
    *(Kind.SYNTAX, Kind.TYPE, Kind.LINT, Kind.DATA, Kind.CONFIG, Kind.ASSERTION, Kind.IMPORT),
    *(Kind.NOT_FOUND, Kind.AUTH, Kind.PERMISSION, Kind.QUOTA),
)
NEVER = (Kind.INVALID_REQUEST, Kind.CONTENT_POLICY, Kind.TOKEN_LIMIT)


def category_of(kind: Kind) -> Category:
    category = STANDARD.category_of(kind)
    assert category is not None
    return category


def decide_kind(
    kind: Kind, attempt: int = 0, *, failure: Failure = BOOM, **fields: Any
) -> Decision:
    """Decide on a failure of the kind; `attempt` is `retry_count` before it."""
    context: dict[str, Any] = {
        "retry_count": attempt,
        "max_retries": STANDARD.max_retries,
        "failed_at": NOW,
        "budget_resets_at": NOW + 12 * HOUR,
        "jitter_seed": "a task:1",
    }
    diagnosis = Diagnosis(
        category=category_of(kind).name, kind=kind, confidence=1.0, pattern="a rule", fix="Fix it."
    )
    return decide(failure, diagnosis, STANDARD, FailureContext(**{**context, **fields}))


def slow_down(seconds: float) -> Failure:
    return Failure.create("slow down", retry_after=timedelta(seconds=seconds))


@pytest.mark.parametrize("kind", WAITING)
def test_what_clears_by_waiting_is_retried_through_all_delays_before_a_person_is_asked(
    kind: Kind,
) -> None:
    category = category_of(kind)
    decisions = [decide_kind(kind, n) for n in range(len(category.delays) + 1)]
    assert [one.delay for one in decisions] == [*category.delays, None]
    assert {one.action for one in decisions[:-1]} == {Action.RETRY}
    assert decisions[-1].status is Status.BLOCKED
    assert category.delays[0] <= MINUTE
    assert sum(category.delays, timedelta(0)) < DAY


@pytest.mark.parametrize("kind", ONE_RETRY)
def test_what_might_clear_is_retried_once(kind: Kind) -> None:
    assert [decide_kind(kind, n).status for n in (0, 1)] == [Status.PENDING, Status.BLOCKED]


@pytest.mark.parametrize("kind", FOR_A_PERSON)
def test_what_somebody_has_to_change_is_given_to_a_person_at_once(kind: Kind) -> None:
    decision = decide_kind(kind)
    assert (decision.action, decision.status) == (Action.ESCALATE_TO_HUMAN, Status.BLOCKED)
    assert decision.guidance == "It failed once and needs a person to look at it. Fix it."


@pytest.mark.parametrize("kind", NEVER)
def test_what_never_clears_ends_at_once(kind: Kind) -> None:
    decision = decide_kind(kind)
    assert (decision.action, decision.status) == (Action.GIVE_UP, Status.FAILED)


@pytest.mark.parametrize("attempt", [0, 5, 100])
def test_an_own_budget_uses_up_no_retry(attempt: int) -> None:
    decision = decide_kind(Kind.BUDGET, attempt, is_over_budget=True)
    assert (decision.action, decision.retry_count) == (Action.WAIT_FOR_BUDGET, attempt)


@given(seed=st.text(max_size=10), minutes=st.integers(0, 3_000), attempt=st.integers(0, 6))
def test_no_retry_comes_after_the_deadline(seed: str, minutes: int, attempt: int) -> None:
    first_failed_at = NOW - minutes * MINUTE
    decision = decide_kind(Kind.NETWORK, attempt, first_failed_at=first_failed_at, jitter_seed=seed)
    assert decision.due_at is None or decision.due_at <= first_failed_at + DAY


@pytest.mark.parametrize(
    ("since", "is_retried"), [(DAY - MINUTE, True), (DAY - SECOND, False), (DAY, False)]
)
def test_a_retry_that_would_come_after_the_deadline_asks_a_person(
    since: timedelta, is_retried: bool
) -> None:
    decision = decide_kind(Kind.NETWORK, 1, first_failed_at=NOW - since)
    assert decision.status is (Status.PENDING if is_retried else Status.BLOCKED)


def test_the_deadline_is_named_only_if_it_ended_the_retries() -> None:
    late = decide_kind(Kind.NETWORK, 1, first_failed_at=NOW - DAY)
    spent = decide_kind(Kind.NETWORK, 7, first_failed_at=NOW - DAY)
    assert late.guidance == "The next retry would come too long after the first failure. Fix it."
    assert spent.guidance == "No retry is left (7 for transient). Fix it."


def test_a_server_that_asks_for_more_time_than_the_deadline_is_not_waited_for() -> None:
    first_failed_at = NOW - 20 * HOUR
    failure = slow_down(5 * 3_600)
    decision = decide_kind(Kind.RATE_LIMIT, 3, failure=failure, first_failed_at=first_failed_at)
    assert decision.status is Status.BLOCKED


@given(seed=st.text(max_size=10), attempt=st.integers(0, 6))
def test_a_retry_comes_at_any_time_up_to_its_delay(seed: str, attempt: int) -> None:
    decision = decide_kind(Kind.NETWORK, attempt, jitter_seed=seed)
    assert decision.due_at is not None
    assert decision.delay is not None
    assert NOW <= decision.due_at <= NOW + decision.delay


def test_retries_are_spread_over_the_whole_delay() -> None:
    due = sorted(_due_after(decide_kind(Kind.NETWORK, 2, jitter_seed=f"{n}")) for n in range(100))
    assert due[0] < 15 * SECOND
    assert due[-1] > 4 * MINUTE + 45 * SECOND


@given(seed=st.text(max_size=10), seconds=st.floats(0, 3_600))
def test_a_retry_never_comes_before_the_servers_time(seed: str, seconds: float) -> None:
    failure = slow_down(seconds)
    decision = decide_kind(Kind.RATE_LIMIT, failure=failure, jitter_seed=seed)
    own = category_of(Kind.RATE_LIMIT).delays[0]
    assert failure.retry_after is not None
    assert failure.retry_after <= _due_after(decision) <= failure.retry_after + own


def _due_after(decision: Decision) -> timedelta:
    due_at: datetime | None = decision.due_at
    assert due_at is not None
    return due_at - NOW


# Subjects


@pytest.mark.parametrize(("failures", "minutes"), [(0, 5), (1, 30), (2, 120), (3, 480)])
def test_a_subject_cools_down_by_its_own_count(failures: int, minutes: int) -> None:
    decision = decide_kind(Kind.NETWORK, 4, subject=a_subject(failure_count=failures))
    assert decision.delay == minutes * MINUTE
    assert decision.subject is not None
    assert decision.subject.cooldown_until == NOW + decision.delay
    assert decision.due_at is not None
    assert NOW + decision.delay <= decision.due_at <= NOW + decision.delay * 1.1


@pytest.mark.parametrize(
    ("kind", "failures"),
    [(Kind.NETWORK, 4), (Kind.BAD_JSON, 2), (Kind.CONTENT_POLICY, 0), (Kind.TOKEN_LIMIT, 0)],
)
def test_a_subject_is_given_up_as_in_enrichment(kind: Kind, failures: int) -> None:
    subjects = [
        decide_kind(kind, subject=a_subject(failure_count=count)).subject
        for count in {max(0, failures - 1), failures}
    ]
    assert [one is not None and one.is_given_up for one in subjects][-1]
    assert [one is not None and one.is_given_up for one in subjects].count(True) == 1


def test_a_failure_that_blames_no_subject_waits_as_without_one() -> None:
    subject = a_subject(failure_count=2)
    diagnosis = Diagnosis(
        category="transient",
        kind=Kind.NETWORK,
        confidence=1.0,
        pattern="a rule",
        fix="",
        blames_subject=False,
    )
    context = FailureContext(
        retry_count=0,
        max_retries=10,
        failed_at=NOW,
        budget_resets_at=NOW + HOUR,
        subject=subject,
    )
    decision = decide(BOOM, diagnosis, STANDARD, context)
    assert decision.delay == STANDARD.categories["transient"].delays[0]
    assert decision.subject is not None
    assert decision.subject.failure_count == 2


def test_the_policy_names_what_it_does_when_a_wait_expires() -> None:
    decision = decide_kind(Kind.NETWORK, 1, is_wait_expired=True)
    assert decision.action is Action.MARK_AS_BLOCKED
