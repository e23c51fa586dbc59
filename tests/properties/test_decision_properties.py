"""Invariants of a retry decision, for any failure, policy and task."""

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

property_settings = settings(deadline=None)
ROUNDING = timedelta(milliseconds=1)
MAX_JITTER_FACTOR = 1.1


def durations(maximum: timedelta) -> st.SearchStrategy[timedelta]:
    return st.timedeltas(timedelta(0), maximum)


categories = st.builds(
    Category,
    name=st.just("made"),
    counts=st.booleans(),
    limit=st.none() | st.integers(1, 8),
    delays=st.lists(durations(3 * DAY), max_size=4).map(tuple),
    until_budget_clears=st.booleans(),
    server_time_wins=st.booleans(),
    subject_limit=st.none() | st.integers(1, 8),
    subject_delays=st.lists(durations(DAY), max_size=3).map(tuple),
    deadline=st.none() | durations(2 * DAY),
    at_limit=st.sampled_from(
        [None, Action.GIVE_UP, Action.ESCALATE_TO_HUMAN, Action.MARK_AS_BLOCKED]
    ),
    needs_spec_refresh=st.booleans(),
)
LADDER_ACTIONS = [
    action for action in Action if action not in (Action.WAIT_FOR_BUDGET, Action.GIVE_UP)
]
ladders = st.just(()) | st.lists(st.sampled_from(LADDER_ACTIONS), min_size=1, max_size=6).map(tuple)


@st.composite
def generated_policies(draw: st.DrawFn) -> tuple[Policy, str]:
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
        has_full_jitter=draw(st.booleans()),
    )
    return policy, category.name


@st.composite
def builtin_policy_categories(draw: st.DrawFn) -> tuple[Policy, str]:
    policy = builtin_policies()[draw(st.sampled_from(sorted(builtin_policies())))]
    # The rules play no role after the diagnosis, and are long to print.
    return replace(policy, rules=()), draw(st.sampled_from(sorted(policy.categories)))


policies = builtin_policy_categories() | generated_policies()
retry_afters = st.none() | durations(MAX_RETRY_AFTER)
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
def failure_contexts(draw: st.DrawFn) -> FailureContext:
    failed_at = draw(moments)
    return FailureContext(
        retry_count=draw(st.integers(0, 12)),
        max_retries=draw(st.integers(1, 100)),
        failed_at=failed_at,
        budget_resets_at=failed_at + draw(st.timedeltas(-DAY, 3 * DAY)),
        jitter_seed=draw(st.text(max_size=10)),
        has_spec=draw(st.booleans()),
        first_failed_at=draw(
            st.none() | st.timedeltas(timedelta(0), 2 * DAY).map(failed_at.__sub__)
        ),
        subject=draw(subjects),
    )


@st.composite
def cases(draw: st.DrawFn) -> dict[str, Any]:
    policy, category = draw(policies)
    return {
        "failure": draw(failures),
        "diagnosis": a_diagnosis(category, blames_subject=draw(st.booleans())),
        "policy": policy,
        "context": draw(failure_contexts()),
    }


def decide_with_retry_after(case: dict[str, Any], wait: timedelta | None) -> Decision:
    return decide(**{**case, "failure": replace(case["failure"], retry_after=wait)})


@property_settings
@given(case=cases())
def test_a_retry_is_never_before_the_failure(case: dict[str, Any]) -> None:
    decision = decide(**case)
    assert decision.due_at is None or decision.due_at >= case["context"].failed_at


@property_settings
@given(case=cases())
def test_a_retry_is_due_within_the_maximum_delay_plus_jitter(case: dict[str, Any]) -> None:
    decision = decide(**case)
    latest = case["context"].failed_at + MAX_DELAY * MAX_JITTER_FACTOR + ROUNDING
    assert decision.due_at is None or decision.due_at <= latest


@property_settings
@given(case=cases())
def test_jitter_adds_at_most_a_tenth(case: dict[str, Any]) -> None:
    decision = decide(**case)
    is_fully_jittered = case["policy"].has_full_jitter
    if decision.due_at is not None and decision.delay is not None and not is_fully_jittered:
        wait = decision.due_at - case["context"].failed_at
        assert decision.delay <= wait <= decision.delay * MAX_JITTER_FACTOR + ROUNDING


@property_settings
@given(case=cases())
def test_a_retry_is_never_before_the_servers_time_nor_a_cooldowns_end(case: dict[str, Any]) -> None:
    decision = decide(**case)
    if decision.due_at is None:
        return
    retry_after = case["failure"].retry_after or timedelta(0)
    wait = decision.due_at - case["context"].failed_at
    assert wait >= min(retry_after, MAX_DELAY) or decision.category.until_budget_clears
    is_subjects = case["diagnosis"].blames_subject and decision.category.subject_delays
    if decision.subject is not None and decision.subject.cooldown_until and is_subjects:
        own_cooldown = case["context"].failed_at + (decision.delay or timedelta(0))
        assert decision.due_at >= min(own_cooldown, decision.subject.cooldown_until)


@property_settings
@given(case=cases())
def test_no_retry_comes_after_the_deadline_of_its_category(case: dict[str, Any]) -> None:
    decision, context = decide(**case), case["context"]
    deadline = decision.category.deadline
    is_own_budget = context.is_over_budget and not decision.category.counts
    if decision.due_at is not None and deadline is not None and not is_own_budget:
        assert decision.due_at <= (context.first_failed_at or context.failed_at) + deadline


@property_settings
@given(case=cases())
def test_only_a_pending_task_has_a_due_time(case: dict[str, Any]) -> None:
    decision = decide(**case)
    is_pending = decision.status is Status.PENDING
    assert (decision.due_at is not None, decision.delay is not None) == (is_pending, is_pending)


@property_settings
@given(case=cases())
def test_a_failure_is_counted_at_most_once(case: dict[str, Any]) -> None:
    decision = decide(**case)
    assert decision.retry_count - case["context"].retry_count == (1 if decision.is_counted else 0)


@property_settings
@given(case=cases())
def test_a_subject_counts_a_failure_at_most_once(case: dict[str, Any]) -> None:
    before, after = case["context"].subject, decide(**case).subject
    assert after is None or after.failure_count - before.failure_count in (0, 1)


@property_settings
@given(case=cases())
def test_a_changed_subject_has_the_next_version(case: dict[str, Any]) -> None:
    before, after = case["context"].subject, decide(**case).subject
    assert after is None or after.version == before.version + 1


@property_settings
@given(case=cases())
def test_the_same_failure_leads_to_the_same_decision(case: dict[str, Any]) -> None:
    assert decide(**case) == decide(**case)


@property_settings
@given(case=cases(), wait=durations(MAX_RETRY_AFTER))
def test_a_retry_after_never_shortens_the_delay(case: dict[str, Any], wait: timedelta) -> None:
    """Except in categories where the server's time always wins."""
    category = case["policy"].categories[case["diagnosis"].category]
    assume(not category.server_time_wins)
    without_retry_after, with_retry_after = (
        decide_with_retry_after(case, None),
        decide_with_retry_after(case, wait),
    )
    assert (
        without_retry_after.delay is None
        or with_retry_after.delay is None
        or with_retry_after.delay >= without_retry_after.delay
    )


@property_settings
@given(case=cases(), wait=durations(MAX_RETRY_AFTER))
def test_a_retry_after_changes_only_the_due_time(case: dict[str, Any], wait: timedelta) -> None:
    without_retry_after, with_retry_after = (
        decide_with_retry_after(case, None),
        decide_with_retry_after(case, wait),
    )
    has_deadline = without_retry_after.category.deadline is not None
    if has_deadline and with_retry_after.due_at is None:
        return  # the server may ask for more time than there is
    assert (
        without_retry_after.action,
        without_retry_after.status,
        without_retry_after.retry_count,
    ) == (*(with_retry_after.action, with_retry_after.status, with_retry_after.retry_count),)


@property_settings
@given(case=cases())
def test_a_task_with_counted_failures_ends(case: dict[str, Any]) -> None:
    assume(case["policy"].categories[case["diagnosis"].category].counts)
    context = replace(case["context"], retry_count=0, subject=None)
    failure_count = 0
    while True:
        decision = decide(**{**case, "context": context})
        failure_count += 1
        if decision.status is not Status.PENDING:
            break
        context = replace(context, retry_count=decision.retry_count)
        assert failure_count <= decision.max_retries
    assert failure_count <= decision.max_retries + 1
