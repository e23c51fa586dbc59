"""The circuit breaker of a provider: how it opens, probes, ramps up and closes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from duecourse.domain.limits.breaker_results import record_failure, record_success
from duecourse.domain.limits.circuit_breaker import (
    DEFAULT_RULES,
    Admitted,
    CircuitBreaker,
    CircuitState,
    Rejected,
    breaker_at,
    decide_admission,
)
from duecourse.domain.limits.circuit_breakers import (
    MAX_BREAKERS,
    journal_key,
    least_needed,
    provider_key,
    transition_event,
)

from tests.support.builders.moments import HOUR, MILLISECOND, MINUTE, NOW

SECOND = timedelta(seconds=1)


def fail_call(
    breaker: CircuitBreaker, *, at: datetime, started_at: datetime | None = None
) -> CircuitBreaker:
    return record_failure(breaker, started_at=started_at or at, now=at)


def succeed_call(
    breaker: CircuitBreaker, *, at: datetime, started_at: datetime | None = None
) -> CircuitBreaker:
    return record_success(breaker, started_at=started_at or at, now=at)


RecordCall = Callable[..., CircuitBreaker]  # fail_call or succeed_call


def breaker_with_failures(times: int, *, every: timedelta = SECOND) -> CircuitBreaker:
    """Return a breaker after a number of failures, the last of them at NOW."""
    breaker = CircuitBreaker()
    for n in reversed(range(times)):
        breaker = fail_call(breaker, at=NOW - every * n)
    return breaker


def open_breaker() -> CircuitBreaker:
    return breaker_with_failures(10)


def half_open_breaker(task_id: str = "probe", *, at: datetime = NOW + MINUTE) -> CircuitBreaker:
    breaker, decision = decide_admission(open_breaker(), task_id, now=at)
    assert decision == Admitted()
    return breaker


def returning_breaker() -> CircuitBreaker:
    """Return a breaker that has been returning since one minute after NOW."""
    return succeed_call(half_open_breaker(), at=NOW + MINUTE)


def admit_many(
    breaker: CircuitBreaker, *, at: datetime, task_count: int = 200
) -> tuple[CircuitBreaker, int]:
    count = 0
    for n in range(task_count):
        breaker, decision = decide_admission(breaker, f"task-{n}", now=at)
        count += decision == Admitted()
    return breaker, count


def rejection_waits(breaker: CircuitBreaker, *, at: datetime, start: datetime) -> list[timedelta]:
    decisions = [decide_admission(breaker, f"task-{n}", now=at)[1] for n in range(100)]
    return [decision.retry_at - start for decision in decisions if isinstance(decision, Rejected)]


# Closed


def test_a_closed_breaker_admits_every_call_unchanged() -> None:
    breaker = CircuitBreaker()
    assert decide_admission(breaker, "task", now=NOW) == (breaker, Admitted())


def test_a_success_does_not_change_a_breaker_without_failures() -> None:
    breaker = CircuitBreaker()
    assert succeed_call(breaker, at=NOW) is breaker


@pytest.mark.parametrize(("failures", "state"), [(9, CircuitState.CLOSED), (10, CircuitState.OPEN)])
def test_the_tenth_failure_in_a_row_opens_it(failures: int, state: CircuitState) -> None:
    assert breaker_with_failures(failures).state is state


def test_a_success_resets_the_consecutive_failures() -> None:
    assert fail_call(succeed_call(breaker_with_failures(4), at=NOW), at=NOW).failures == 1


@pytest.mark.parametrize(
    ("delay", "state"), [(timedelta(0), CircuitState.OPEN), (MILLISECOND, CircuitState.CLOSED)]
)
def test_ten_failures_open_it_only_within_five_minutes(
    delay: timedelta, state: CircuitState
) -> None:
    first = CircuitBreaker(failures=1, failed_at=(NOW - 5 * MINUTE - delay,))
    breaker = first
    for _ in range(9):
        breaker = fail_call(breaker, at=NOW)
    assert breaker.state is state


def test_older_failures_are_not_counted() -> None:
    assert fail_call(breaker_with_failures(4), at=NOW + HOUR).failures == 1


# Open


def test_an_open_breaker_has_an_opening_time_and_an_end() -> None:
    breaker = open_breaker()
    assert (breaker.opened_at, breaker.state_until) == (NOW, NOW + MINUTE)
    assert (breaker.failures, breaker.limit_per_minute) == (10, 0)


def test_an_open_breaker_rejects_calls_unchanged() -> None:
    breaker = open_breaker()
    after, decision = decide_admission(breaker, "task", now=NOW + MINUTE - MILLISECOND)
    assert after == breaker
    assert isinstance(decision, Rejected)


def test_rejected_tasks_retry_spread_over_the_minute_after_the_end() -> None:
    waits = rejection_waits(open_breaker(), at=NOW, start=NOW + MINUTE)
    assert min(waits) >= timedelta(0)
    assert max(waits) < DEFAULT_RULES.window
    quarters = [
        sum(n * 15 * SECOND <= wait < (n + 1) * 15 * SECOND for wait in waits) for n in range(4)
    ]
    assert min(quarters) > 10


def test_a_rejected_task_always_gets_the_same_retry_time() -> None:
    first, second = (
        decide_admission(open_breaker(), "task", now=NOW + n * SECOND)[1] for n in range(2)
    )
    assert first == second


def test_another_outage_gives_the_tasks_another_order() -> None:
    """Otherwise one task that can never succeed would always be the probe."""
    later = replace(open_breaker(), state_until=NOW + 2 * MINUTE)
    waits = rejection_waits(open_breaker(), at=NOW, start=NOW + MINUTE)
    assert waits.index(min(waits)) != (
        later_waits := rejection_waits(later, at=NOW, start=NOW)
    ).index(min(later_waits))


@pytest.mark.parametrize("started_at", [NOW - SECOND, NOW + SECOND])
@pytest.mark.parametrize("record_call", [fail_call, succeed_call])
def test_an_open_breaker_ignores_runs_admitted_earlier(
    record_call: RecordCall, started_at: datetime
) -> None:
    """Some runs were admitted before it opened and started just after."""
    breaker = open_breaker()
    assert record_call(breaker, at=NOW + 30 * SECOND, started_at=started_at) == breaker


# Half open


def test_the_first_task_after_the_open_period_is_the_probe() -> None:
    breaker = half_open_breaker("first")
    assert (breaker.state, breaker.probe_task_id) == (CircuitState.HALF_OPEN, "first")


def test_all_other_tasks_are_rejected_during_the_probe() -> None:
    assert admit_many(half_open_breaker(), at=NOW + MINUTE)[1] == 0


def test_rejected_tasks_do_not_wait_for_the_end_of_the_probe_lease() -> None:
    waits = rejection_waits(half_open_breaker(), at=NOW + MINUTE, start=NOW + MINUTE)
    assert MINUTE <= min(waits) < max(waits) < 2 * MINUTE


def test_the_probe_task_is_admitted_again() -> None:
    breaker = half_open_breaker("first")
    assert decide_admission(breaker, "first", now=NOW + MINUTE + SECOND) == (breaker, Admitted())


@pytest.mark.parametrize(("remaining", "count"), [(MILLISECOND, 0), (timedelta(0), 1)])
def test_an_expired_probe_is_replaced_by_another(remaining: timedelta, count: int) -> None:
    at = NOW + MINUTE + DEFAULT_RULES.probe_lease - remaining
    assert admit_many(half_open_breaker(), at=at)[1] == count


def test_a_successful_probe_starts_returning() -> None:
    breaker = returning_breaker()
    assert (breaker.state, breaker.limit_per_minute) == (CircuitState.RETURNING, 2)
    assert breaker.opened_at == NOW


def test_a_probe_slower_than_its_lease_still_counts() -> None:
    """Otherwise work that takes longer than a lease could never close it."""
    at = NOW + MINUTE + DEFAULT_RULES.probe_lease
    second, _ = decide_admission(half_open_breaker("first"), "second", now=at)
    assert (
        succeed_call(second, at=at + SECOND, started_at=NOW + MINUTE).state
        is CircuitState.RETURNING
    )


@pytest.mark.parametrize("record_call", [fail_call, succeed_call])
def test_a_run_started_before_the_probe_is_ignored(record_call: RecordCall) -> None:
    breaker = half_open_breaker()
    assert (
        record_call(breaker, at=NOW + 2 * MINUTE, started_at=NOW + MINUTE - MILLISECOND) == breaker
    )


def test_each_failed_probe_doubles_the_open_period() -> None:
    breaker, now, minutes = open_breaker(), NOW, []
    for _ in range(7):
        assert breaker.state_until is not None
        minutes.append((breaker.state_until - now) / MINUTE)
        now = breaker.state_until
        breaker, _ = decide_admission(breaker, "probe", now=now)
        breaker = fail_call(breaker, at=now)
    assert minutes == [1, 2, 4, 8, 15, 15, 15]
    assert (breaker.failures, breaker.opened_at) == (17, NOW)


# Returning


def test_the_limit_doubles_every_minute_until_the_breaker_closes() -> None:
    breaker, admitted = returning_breaker(), []
    for minute in range(1, 7):
        breaker, count = admit_many(breaker, at=NOW + minute * MINUTE)
        admitted.append(count)
    assert admitted == [2, 4, 8, 16, 32, 64]
    breaker, count = admit_many(breaker, at=NOW + 7 * MINUTE)
    assert (breaker.state, count) == (CircuitState.CLOSED, 200)


def test_no_more_calls_than_the_limit_are_admitted_within_a_minute() -> None:
    breaker, _ = admit_many(returning_breaker(), at=NOW + MINUTE)
    assert admit_many(breaker, at=NOW + 2 * MINUTE - MILLISECOND)[1] == 0


def test_rejected_tasks_retry_in_the_next_minute() -> None:
    breaker, _ = admit_many(returning_breaker(), at=NOW + MINUTE)
    waits = rejection_waits(breaker, at=NOW + MINUTE, start=NOW + 2 * MINUTE)
    assert timedelta(0) <= min(waits) < max(waits) < MINUTE


def test_minutes_without_calls_also_raise_the_limit() -> None:
    assert breaker_at(returning_breaker(), now=NOW + 4 * MINUTE).window_limit == 16
    assert breaker_at(returning_breaker(), now=NOW + 365 * 24 * HOUR).state is CircuitState.CLOSED


def test_a_failure_while_returning_reopens_it_for_longer() -> None:
    breaker = fail_call(returning_breaker(), at=NOW + 2 * MINUTE)
    assert (breaker.state, breaker.state_until) == (CircuitState.OPEN, NOW + 4 * MINUTE)


def test_closing_resets_the_open_period() -> None:
    breaker = fail_call(returning_breaker(), at=NOW + 2 * MINUTE)
    breaker, _ = decide_admission(breaker, "probe", now=NOW + 4 * MINUTE)
    breaker = succeed_call(breaker, at=NOW + 4 * MINUTE)
    for _ in range(10):
        breaker = fail_call(breaker, at=NOW + HOUR)
    assert breaker.state_until == NOW + HOUR + MINUTE


def test_a_failure_of_a_run_admitted_while_returning_counts_after_closing() -> None:
    breaker = fail_call(returning_breaker(), at=NOW + HOUR, started_at=NOW + 2 * MINUTE)
    assert (breaker.state, breaker.failures) == (CircuitState.CLOSED, 1)


def test_a_failure_of_a_run_from_before_the_outage_does_not_count_after_closing() -> None:
    breaker = fail_call(returning_breaker(), at=NOW + HOUR, started_at=NOW - MINUTE)
    assert (breaker.state, breaker.failures) == (CircuitState.CLOSED, 0)


# Events


def test_the_opened_event_has_the_failures_and_the_end() -> None:
    event = transition_event("llm", breaker_with_failures(4), open_breaker(), at=NOW)
    assert event is not None
    assert (event.type, event.task_id, event.at) == ("breaker:opened", "breaker#llm", NOW)
    expected = {"provider": "llm", "failures": 10, "until": "2026-02-17T12:01:00.000Z"}
    assert event.detail == expected


def test_the_closed_event_has_the_failures_and_the_opening_time() -> None:
    closed = breaker_at(returning_breaker(), now=NOW + HOUR)
    event = transition_event("llm", returning_breaker(), closed, at=NOW + HOUR)
    assert event is not None
    assert event.type == "breaker:closed"
    expected = {"provider": "llm", "failures": 10, "opened_at": "2026-02-17T12:00:00.000Z"}
    assert event.detail == expected


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (CircuitBreaker(), breaker_with_failures(1)),
        (breaker_with_failures(4), CircuitBreaker()),
        (open_breaker(), open_breaker()),
        (open_breaker(), half_open_breaker()),
        (half_open_breaker(), returning_breaker()),
    ],
    ids=["a failure", "a success", "nothing", "a probe", "a return"],
)
def test_other_transitions_have_no_event(old: CircuitBreaker, new: CircuitBreaker) -> None:
    assert transition_event("llm", old, new, at=NOW) is None


# The list of breakers


def test_a_provider_is_identified_by_the_first_64_characters_of_its_name() -> None:
    assert provider_key("x" * 65) == provider_key("x" * 99) == "x" * 64
    assert journal_key("x" * 65) == f"breaker#{'x' * 64}"


def test_the_oldest_breaker_without_failures_leaves_a_full_list_first() -> None:
    breakers = {
        "open": open_breaker(),
        "new": CircuitBreaker(state_changed_at=NOW + 2 * HOUR),
        "old": CircuitBreaker(state_changed_at=NOW + HOUR),
        "failing": breaker_with_failures(1),
    }
    assert least_needed(breakers) == ["old", "new", "failing", "open"]


def test_of_breakers_with_failures_the_one_that_failed_longest_ago_leaves_first() -> None:
    breakers = {
        f"p{n}": fail_call(CircuitBreaker(), at=NOW - n * SECOND) for n in range(MAX_BREAKERS)
    }
    dropped = least_needed({"open": open_breaker(), **breakers})
    assert (dropped[0], len(dropped)) == (f"p{MAX_BREAKERS - 1}", MAX_BREAKERS // 4)
