"""A provider that is down: when its breaker opens, whom it lets through, and how it closes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from duecourse.domain.limits.circuit_breaker import (
    DEFAULT_RULES,
    Admitted,
    CircuitBreaker,
    CircuitState,
    Rejected,
    breaker_at,
    decide_admission,
    record_failure,
    record_success,
)
from duecourse.domain.limits.circuit_breakers import MAX_BREAKERS, CircuitBreakers, transition_event

from tests.support.builders.moments import HOUR, MILLISECOND, MINUTE, NOW

SECOND = timedelta(seconds=1)


def failed(
    breaker: CircuitBreaker, *, at: datetime, began_at: datetime | None = None
) -> CircuitBreaker:
    return record_failure(breaker, started_at=began_at or at, now=at)


def succeeded(
    breaker: CircuitBreaker, *, at: datetime, began_at: datetime | None = None
) -> CircuitBreaker:
    return record_success(breaker, started_at=began_at or at, now=at)


Tell = Callable[..., CircuitBreaker]  # one of the two above


def failed_times(times: int, *, every: timedelta = SECOND) -> CircuitBreaker:
    """The last of the failures comes now."""
    breaker = CircuitBreaker()
    for n in reversed(range(times)):
        breaker = failed(breaker, at=NOW - every * n)
    return breaker


def opened() -> CircuitBreaker:
    return failed_times(10)


def probed(task_id: str = "probe", *, at: datetime = NOW + MINUTE) -> CircuitBreaker:
    breaker, answer = decide_admission(opened(), task_id, now=at)
    assert answer == Admitted()
    return breaker


def returning() -> CircuitBreaker:
    """Since one minute after now."""
    return succeeded(probed(), at=NOW + MINUTE)


def let_through(
    breaker: CircuitBreaker, *, at: datetime, asking: int = 200
) -> tuple[CircuitBreaker, int]:
    count = 0
    for n in range(asking):
        breaker, answer = decide_admission(breaker, f"task-{n}", now=at)
        count += answer == Admitted()
    return breaker, count


def waits_of(breaker: CircuitBreaker, *, at: datetime, start: datetime) -> list[timedelta]:
    answers = [decide_admission(breaker, f"task-{n}", now=at)[1] for n in range(100)]
    return [answer.retry_at - start for answer in answers if isinstance(answer, Rejected)]


# Closed


def test_a_closed_breaker_lets_all_through_and_stays_as_it_is() -> None:
    breaker = CircuitBreaker()
    assert decide_admission(breaker, "task", now=NOW) == (breaker, Admitted())


def test_a_success_leaves_a_breaker_without_failures_as_it_is() -> None:
    breaker = CircuitBreaker()
    assert succeeded(breaker, at=NOW) is breaker


@pytest.mark.parametrize(("failures", "state"), [(9, CircuitState.CLOSED), (10, CircuitState.OPEN)])
def test_the_tenth_failure_in_a_row_opens_it(failures: int, state: CircuitState) -> None:
    assert failed_times(failures).state is state


def test_a_success_breaks_the_row() -> None:
    assert failed(succeeded(failed_times(4), at=NOW), at=NOW).failures == 1


@pytest.mark.parametrize(
    ("late", "state"), [(timedelta(0), CircuitState.OPEN), (MILLISECOND, CircuitState.CLOSED)]
)
def test_the_ten_must_come_within_five_minutes(late: timedelta, state: CircuitState) -> None:
    first = CircuitBreaker(failures=1, failed_at=(NOW - 5 * MINUTE - late,))
    breaker = first
    for _ in range(9):
        breaker = failed(breaker, at=NOW)
    assert breaker.state is state


def test_failures_longer_ago_are_no_longer_counted() -> None:
    assert failed(failed_times(4), at=NOW + HOUR).failures == 1


# Open


def test_an_open_breaker_says_since_when_and_until_when() -> None:
    breaker = opened()
    assert (breaker.opened_at, breaker.state_until) == (NOW, NOW + MINUTE)
    assert (breaker.failures, breaker.limit_per_minute) == (10, 0)


def test_an_open_breaker_parks_and_stays_as_it_is() -> None:
    breaker = opened()
    after, answer = decide_admission(breaker, "task", now=NOW + MINUTE - MILLISECOND)
    assert after == breaker
    assert isinstance(answer, Rejected)


def test_parked_tasks_come_back_spread_over_a_minute_from_the_end_on() -> None:
    waits = waits_of(opened(), at=NOW, start=NOW + MINUTE)
    assert min(waits) >= timedelta(0)
    assert max(waits) < DEFAULT_RULES.window
    quarters = [
        sum(n * 15 * SECOND <= wait < (n + 1) * 15 * SECOND for wait in waits) for n in range(4)
    ]
    assert min(quarters) > 10


def test_a_task_is_always_parked_until_the_same_moment() -> None:
    first, again = (decide_admission(opened(), "task", now=NOW + n * SECOND)[1] for n in range(2))
    assert first == again


def test_another_outage_sends_the_tasks_back_in_another_order() -> None:
    """Or one task that can never succeed would be the probe every time."""
    later = replace(opened(), state_until=NOW + 2 * MINUTE)
    now = waits_of(opened(), at=NOW, start=NOW + MINUTE)
    assert now.index(min(now)) != (then := waits_of(later, at=NOW, start=NOW)).index(min(then))


@pytest.mark.parametrize("began_at", [NOW - SECOND, NOW + SECOND])
@pytest.mark.parametrize("tell", [failed, succeeded])
def test_an_open_breaker_hears_nothing_from_runs_it_let_through_before(
    tell: Tell, began_at: datetime
) -> None:
    """Some were let through before it opened and began just after."""
    breaker = opened()
    assert tell(breaker, at=NOW + 30 * SECOND, began_at=began_at) == breaker


# Half open


def test_the_first_to_ask_when_the_time_is_over_is_the_probe() -> None:
    breaker = probed("first")
    assert (breaker.state, breaker.probe_task_id) == (CircuitState.HALF_OPEN, "first")


def test_while_the_probe_is_out_all_others_are_parked() -> None:
    assert let_through(probed(), at=NOW + MINUTE)[1] == 0


def test_others_do_not_wait_for_the_end_of_a_long_lease() -> None:
    waits = waits_of(probed(), at=NOW + MINUTE, start=NOW + MINUTE)
    assert MINUTE <= min(waits) < max(waits) < 2 * MINUTE


def test_the_probe_itself_may_ask_again() -> None:
    breaker = probed("first")
    assert decide_admission(breaker, "first", now=NOW + MINUTE + SECOND) == (breaker, Admitted())


@pytest.mark.parametrize(("early", "count"), [(MILLISECOND, 0), (timedelta(0), 1)])
def test_a_probe_that_died_is_followed_by_another(early: timedelta, count: int) -> None:
    at = NOW + MINUTE + DEFAULT_RULES.probe_lease - early
    assert let_through(probed(), at=at)[1] == count


def test_a_good_probe_begins_the_return() -> None:
    breaker = returning()
    assert (breaker.state, breaker.limit_per_minute) == (CircuitState.RETURNING, 2)
    assert breaker.opened_at == NOW


def test_a_probe_slower_than_its_lease_is_still_believed() -> None:
    """Or work that takes longer than a lease could never close it."""
    at = NOW + MINUTE + DEFAULT_RULES.probe_lease
    second, _ = decide_admission(probed("first"), "second", now=at)
    assert succeeded(second, at=at + SECOND, began_at=NOW + MINUTE).state is CircuitState.RETURNING


@pytest.mark.parametrize("tell", [failed, succeeded])
def test_a_run_from_before_the_probe_tells_nothing(tell: Tell) -> None:
    breaker = probed()
    assert tell(breaker, at=NOW + 2 * MINUTE, began_at=NOW + MINUTE - MILLISECOND) == breaker


def test_each_failed_probe_doubles_the_time_it_is_open() -> None:
    breaker, now, minutes = opened(), NOW, []
    for _ in range(7):
        assert breaker.state_until is not None
        minutes.append((breaker.state_until - now) / MINUTE)
        now = breaker.state_until
        breaker, _ = decide_admission(breaker, "probe", now=now)
        breaker = failed(breaker, at=now)
    assert minutes == [1, 2, 4, 8, 15, 15, 15]
    assert (breaker.failures, breaker.opened_at) == (17, NOW)


# Returning


def test_the_return_doubles_every_minute_and_then_it_is_closed() -> None:
    breaker, admitted = returning(), []
    for minute in range(1, 7):
        breaker, count = let_through(breaker, at=NOW + minute * MINUTE)
        admitted.append(count)
    assert admitted == [2, 4, 8, 16, 32, 64]
    breaker, count = let_through(breaker, at=NOW + 7 * MINUTE)
    assert (breaker.state, count) == (CircuitState.CLOSED, 200)


def test_within_a_minute_no_more_are_let_through() -> None:
    breaker, _ = let_through(returning(), at=NOW + MINUTE)
    assert let_through(breaker, at=NOW + 2 * MINUTE - MILLISECOND)[1] == 0


def test_who_was_parked_comes_back_in_the_next_minute() -> None:
    breaker, _ = let_through(returning(), at=NOW + MINUTE)
    waits = waits_of(breaker, at=NOW + MINUTE, start=NOW + 2 * MINUTE)
    assert timedelta(0) <= min(waits) < max(waits) < MINUTE


def test_minutes_in_which_nobody_asked_count_as_well() -> None:
    assert breaker_at(returning(), now=NOW + 4 * MINUTE).window_limit == 16
    assert breaker_at(returning(), now=NOW + 365 * 24 * HOUR).state is CircuitState.CLOSED


def test_a_failure_while_returning_opens_it_again_for_longer() -> None:
    breaker = failed(returning(), at=NOW + 2 * MINUTE)
    assert (breaker.state, breaker.state_until) == (CircuitState.OPEN, NOW + 4 * MINUTE)


def test_once_closed_the_time_it_is_open_is_short_again() -> None:
    breaker = failed(returning(), at=NOW + 2 * MINUTE)
    breaker, _ = decide_admission(breaker, "probe", now=NOW + 4 * MINUTE)
    breaker = succeeded(breaker, at=NOW + 4 * MINUTE)
    for _ in range(10):
        breaker = failed(breaker, at=NOW + HOUR)
    assert breaker.state_until == NOW + HOUR + MINUTE


def test_a_failure_of_a_run_let_through_while_it_returned_counts_when_it_is_closed() -> None:
    breaker = failed(returning(), at=NOW + HOUR, began_at=NOW + 2 * MINUTE)
    assert (breaker.state, breaker.failures) == (CircuitState.CLOSED, 1)


def test_a_failure_from_before_the_outage_does_not_count_when_it_is_over() -> None:
    breaker = failed(returning(), at=NOW + HOUR, began_at=NOW - MINUTE)
    assert (breaker.state, breaker.failures) == (CircuitState.CLOSED, 0)


# What is told of it


def test_that_it_opened_is_told_with_its_failures_and_its_end() -> None:
    event = transition_event("llm", failed_times(4), opened(), at=NOW)
    assert event is not None
    assert (event.type, event.task_id, event.at) == ("breaker:opened", "breaker#llm", NOW)
    wanted = {"provider": "llm", "failures": 10, "until": "2026-02-17T12:01:00.000Z"}
    assert event.detail == wanted


def test_that_it_closed_is_told_with_the_outage_it_ended() -> None:
    closed = breaker_at(returning(), now=NOW + HOUR)
    event = transition_event("llm", returning(), closed, at=NOW + HOUR)
    assert event is not None
    assert event.type == "breaker:closed"
    wanted = {"provider": "llm", "failures": 10, "opened_at": "2026-02-17T12:00:00.000Z"}
    assert event.detail == wanted


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (CircuitBreaker(), failed_times(1)),
        (failed_times(4), CircuitBreaker()),
        (opened(), opened()),
        (opened(), probed()),
        (probed(), returning()),
    ],
    ids=["a failure", "a success", "nothing", "a probe", "a return"],
)
def test_nothing_else_is_told(old: CircuitBreaker, new: CircuitBreaker) -> None:
    assert transition_event("llm", old, new, at=NOW) is None


# The panel


def test_a_provider_is_known_by_the_first_64_characters_of_its_name() -> None:
    panel = CircuitBreakers().with_breaker("x" * 65, opened())
    assert panel.get("x" * 64) == panel.get("x" * 99) == opened()
    assert panel.get("x" * 63) == CircuitBreaker()


def test_of_too_many_the_oldest_without_failures_is_forgotten() -> None:
    old, new = (
        CircuitBreaker(state_changed_at=NOW + HOUR),
        CircuitBreaker(state_changed_at=NOW + 2 * HOUR),
    )
    panel = CircuitBreakers({"open": opened(), "old": old, "new": new})
    for n in range(MAX_BREAKERS - 2):
        panel = panel.with_breaker(f"failing-{n}", failed_times(1))
    assert len(panel.breakers) == MAX_BREAKERS
    assert {"open", "new", "failing-0"} <= panel.breakers.keys()
    assert "old" not in panel.breakers


def test_failures_of_long_ago_make_room_for_new_ones() -> None:
    panel = CircuitBreakers()
    for n in range(MAX_BREAKERS + 1):
        panel = panel.with_breaker(f"p{n}", failed(CircuitBreaker(), at=NOW + n * SECOND))
    assert "p0" not in panel.breakers
    assert f"p{MAX_BREAKERS}" in panel.breakers


def test_no_flood_of_names_closes_an_open_breaker() -> None:
    panel = CircuitBreakers().with_breaker("open", opened())
    for n in range(3 * MAX_BREAKERS):
        panel = panel.with_breaker(f"p{n}", failed(CircuitBreaker(), at=NOW + HOUR))
    assert panel.get("open") == opened()
