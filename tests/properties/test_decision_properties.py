"""Whatever fails, under whatever policy: when it comes back, what it counts, and that it ends."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from duecourse.domain.failures.decision import Decision, decide
from duecourse.domain.failures.failure import Failure
from duecourse.domain.failures.failure_context import FailureContext
from duecourse.domain.failures.policy import Category, LimitUnit, Policy
from duecourse.domain.failures.retry_after import MAX_RETRY_AFTER
from duecourse.domain.failures.retry_delay import MAX_DELAY
from duecourse.domain.tasks.recovery_action import Action
from duecourse.domain.tasks.status import Status
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.support.builders.failures import a_diagnosis, a_subject, builtin_policies
from tests.support.builders.moments import DAY, NOW

calm = settings(deadline=None)
ROUNDING = timedelta(milliseconds=1)
MOST_JITTER = 1.1


def waits(longest: timedelta) -> st.SearchStrategy[timedelta]:
    return st.timedeltas(timedelta(0), longest)


categories = st.builds(
    Category,
    name=st.just("made"),
    counts=st.booleans(),
    limit=st.none() | st.integers(1, 8),
    delays=st.lists(waits(3 * DAY), max_size=4).map(tuple),
    until_budget_clears=st.booleans(),
    server_time_wins=st.booleans(),
    subject_limit=st.none() | st.integers(1, 8),
    needs_spec_refresh=st.booleans(),
)
RUNGS = [action for action in Action if action not in (Action.WAIT_FOR_BUDGET, Action.GIVE_UP)]
ladders = st.just(()) | st.lists(st.sampled_from(RUNGS), min_size=1, max_size=6).map(tuple)


@st.composite
def made_policies(draw: st.DrawFn) -> tuple[Policy, str]:
    category = draw(categories)
    policy = Policy(
        name="made",
        about="",
        limit_unit=draw(st.sampled_from(LimitUnit)),
        max_retries=draw(st.integers(1, 8)),
        jitter=draw(st.floats(0, 0.1)),
        fallback=category.name,
        categories={category.name: category},
        rules=(),
        ladder=draw(ladders),
    )
    return policy, category.name


@st.composite
def shipped(draw: st.DrawFn) -> tuple[Policy, str]:
    policy = builtin_policies()[draw(st.sampled_from(sorted(builtin_policies())))]
    # The rules have no say once a failure is understood, and are long to print.
    return replace(policy, rules=()), draw(st.sampled_from(sorted(policy.categories)))


policies = shipped() | made_policies()
retry_afters = st.none() | waits(MAX_RETRY_AFTER)
failures = st.builds(
    Failure,
    message=st.text(max_size=20),
    code=st.sampled_from([None, "x", "subject_gave_up"]),
    retry_after=retry_afters,
)
moments = st.datetimes(datetime(2026, 1, 1), datetime(2030, 1, 1)).map(  # noqa: DTZ001
    lambda wall: wall.replace(tzinfo=NOW.tzinfo)
)
subjects = st.none() | st.builds(
    a_subject,
    failure_count=st.integers(0, 9),
    cooldown_until=st.none() | moments,
)


@st.composite
def situations(draw: st.DrawFn) -> FailureContext:
    failed_at = draw(moments)
    return FailureContext(
        retry_count=draw(st.integers(0, 12)),
        max_retries=draw(st.integers(1, 100)),
        failed_at=failed_at,
        budget_resets_at=failed_at + draw(st.timedeltas(-DAY, 3 * DAY)),
        jitter_seed=draw(st.text(max_size=10)),
        has_spec=draw(st.booleans()),
        subject=draw(subjects),
    )


@st.composite
def cases(draw: st.DrawFn) -> dict[str, Any]:
    policy, category = draw(policies)
    return {
        "failure": draw(failures),
        "diagnosis": a_diagnosis(category, blames_subject=draw(st.booleans())),
        "policy": policy,
        "context": draw(situations()),
    }


def told_to_wait(case: dict[str, Any], wait: timedelta | None) -> Decision:
    return decide(**{**case, "failure": replace(case["failure"], retry_after=wait)})


@calm
@given(case=cases())
def test_a_retry_is_never_before_the_failure(case: dict[str, Any]) -> None:
    decision = decide(**case)
    assert decision.due_at is None or decision.due_at >= case["context"].failed_at


@calm
@given(case=cases())
def test_a_retry_comes_within_a_day_and_its_jitter(case: dict[str, Any]) -> None:
    decision = decide(**case)
    latest = case["context"].failed_at + MAX_DELAY * MOST_JITTER + ROUNDING
    assert decision.due_at is None or decision.due_at <= latest


@calm
@given(case=cases())
def test_jitter_only_ever_adds_and_a_tenth_at_most(case: dict[str, Any]) -> None:
    decision = decide(**case)
    if decision.due_at is not None and decision.delay is not None:
        wait = decision.due_at - case["context"].failed_at
        assert decision.delay <= wait <= decision.delay * MOST_JITTER + ROUNDING


@calm
@given(case=cases())
def test_only_what_is_pending_has_a_time(case: dict[str, Any]) -> None:
    decision = decide(**case)
    is_pending = decision.status is Status.PENDING
    assert (decision.due_at is not None, decision.delay is not None) == (is_pending, is_pending)


@calm
@given(case=cases())
def test_a_failure_counts_once_or_not_at_all(case: dict[str, Any]) -> None:
    decision = decide(**case)
    assert decision.retry_count - case["context"].retry_count == (1 if decision.is_counted else 0)


@calm
@given(case=cases())
def test_a_subject_counts_a_failure_once_or_not_at_all(case: dict[str, Any]) -> None:
    before, after = case["context"].subject, decide(**case).subject
    assert after is None or after.failure_count - before.failure_count in (0, 1)


@calm
@given(case=cases())
def test_a_subject_that_is_written_is_one_version_further(case: dict[str, Any]) -> None:
    before, after = case["context"].subject, decide(**case).subject
    assert after is None or after.version == before.version + 1


@calm
@given(case=cases())
def test_the_same_failure_leads_to_the_same_decision(case: dict[str, Any]) -> None:
    assert decide(**case) == decide(**case)


@calm
@given(case=cases(), wait=waits(MAX_RETRY_AFTER))
def test_a_retry_after_never_shortens_a_wait(case: dict[str, Any], wait: timedelta) -> None:
    """But where the server's own time wins."""
    category = case["policy"].categories[case["diagnosis"].category]
    assume(not category.server_time_wins)
    without, asked = told_to_wait(case, None), told_to_wait(case, wait)
    assert without.delay is None or asked.delay is None or asked.delay >= without.delay


@calm
@given(case=cases(), wait=waits(MAX_RETRY_AFTER))
def test_a_retry_after_changes_nothing_but_the_time(case: dict[str, Any], wait: timedelta) -> None:
    without, asked = told_to_wait(case, None), told_to_wait(case, wait)
    assert (without.action, without.status, without.retry_count) == (
        *(asked.action, asked.status, asked.retry_count),
    )


@calm
@given(case=cases())
def test_a_task_whose_failures_count_comes_to_an_end(case: dict[str, Any]) -> None:
    assume(case["policy"].categories[case["diagnosis"].category].counts)
    situation = replace(case["context"], retry_count=0, subject=None)
    failed = 0
    while True:
        decision = decide(**{**case, "context": situation})
        failed += 1
        if decision.status is not Status.PENDING:
            break
        situation = replace(situation, retry_count=decision.retry_count)
        assert failed <= decision.max_retries
    assert failed <= decision.max_retries + 1
