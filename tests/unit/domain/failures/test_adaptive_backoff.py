"""Delays by what has worked: only on evidence, and only among the policy's own."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from duecourse.domain.failures.adaptive_backoff import adapt_delay
from duecourse.domain.failures.policy import Category
from duecourse.domain.tasks.adapted_delay import MIN_SAMPLES, AdaptedDelay, RetryOutcomes

SECOND = timedelta(seconds=1)
WELL, BADLY, SOMEWHAT = RetryOutcomes(20, 18), RetryOutcomes(20, 9), RetryOutcomes(20, 10)


def a_category(**fields: Any) -> Category:
    delays = tuple(seconds * SECOND for seconds in (30, 120, 300))
    return Category(**{"name": "transient", "delays": delays, **fields})


def taken(tries: dict[int, RetryOutcomes], retry_count: int = 0, **fields: Any) -> float | None:
    """The delay in place of the policy's, in seconds."""
    found = adapt_delay(a_category(**fields), retry_count, tries)
    return found.delay.total_seconds() if found else None


def test_without_evidence_nothing_is_adapted() -> None:
    assert [taken({}, n) for n in range(5)] == [None] * 5


@pytest.mark.parametrize(
    "tries", [RetryOutcomes(19, 0), RetryOutcomes(20, 10), RetryOutcomes(100, 50), WELL]
)
def test_a_delay_that_works_or_is_not_known_enough_stays(tries: RetryOutcomes) -> None:
    assert taken({30: tries}) is None


def test_one_that_mostly_fails_gives_way_to_a_longer_one_that_is_to_be_found_out_about() -> None:
    assert taken({30: BADLY}) == 120
    assert taken({30: BADLY, 120: RetryOutcomes(19, 0)}) == 120


def test_a_longer_one_must_have_worked_clearly_better() -> None:
    poorly = RetryOutcomes(100, 20)
    assert taken({30: poorly, 120: RetryOutcomes(100, 30)}) == 120
    assert taken({30: poorly, 120: RetryOutcomes(100, 29), 300: RetryOutcomes(100, 29)}) is None
    assert taken({30: poorly, 120: RetryOutcomes(100, 29), 300: RetryOutcomes(20, 6)}) == 300


def test_where_nothing_has_ever_worked_nothing_is_clearly_better() -> None:
    never = RetryOutcomes(MIN_SAMPLES, 0)
    assert taken({30: never, 120: never, 300: never}) is None
    assert taken({30: never, 120: never, 300: RetryOutcomes(MIN_SAMPLES, 1)}) == 300


def test_the_longest_has_nowhere_to_go() -> None:
    assert taken({300: RetryOutcomes(50, 0)}, retry_count=2) is None
    assert taken({300: RetryOutcomes(50, 0)}, retry_count=9) is None


def test_a_shorter_one_that_nearly_always_works_is_taken() -> None:
    assert taken({30: WELL}, retry_count=1) == 30
    assert taken({30: RetryOutcomes(20, 17), 120: WELL}, retry_count=2) == 120
    assert taken({30: WELL, 120: WELL}, retry_count=2) == 30


def test_a_shorter_one_is_not_taken_on_little_evidence() -> None:
    assert taken({30: RetryOutcomes(19, 19)}, retry_count=1) is None


def test_what_fails_although_a_shorter_wait_works_for_others_waits_longer() -> None:
    """The second retry is for those that the first did not help."""
    assert taken({30: RetryOutcomes(1000, 950), 120: BADLY}, retry_count=1) == 300
    assert taken({30: RetryOutcomes(1000, 950), 120: SOMEWHAT}, retry_count=1) == 30


@pytest.mark.parametrize(
    "fields", [{"server_time_wins": True}, {"until_budget_clears": True}, {"counts": False}]
)
def test_what_a_server_or_a_budget_decides_is_left_alone(fields: dict[str, Any]) -> None:
    assert taken({30: BADLY}, **fields) is None


def test_a_category_without_delays_has_none() -> None:
    assert taken({0: BADLY}, delays=()) is None


def test_delays_that_the_policy_no_longer_has_tell_nothing() -> None:
    assert taken({30: BADLY, 45: WELL, 600: WELL}) == 120


def test_the_evidence_is_told() -> None:
    found = adapt_delay(a_category(), 0, {30: RetryOutcomes(25, 4), 120: RetryOutcomes(40, 30)})
    assert found == AdaptedDelay(
        policy_delay=30 * SECOND,
        delay=120 * SECOND,
        outcomes=RetryOutcomes(40, 30),
        reason="After 30 seconds 4 of 25 retries worked, after 2 minutes 30 of 40.",
    )
    assert found.to_json() == {
        "policy_delay_seconds": 30,
        "delay_seconds": 120,
        "tried": 40,
        "worked": 30,
        "because": found.reason,
    }


def test_so_is_that_there_is_none_yet() -> None:
    found = adapt_delay(a_category(), 0, {30: BADLY, 120: RetryOutcomes(1, 1)})
    assert found is not None
    assert found.reason == ("After 30 seconds 9 of 20 retries worked; 2 minutes are tried next.")


def test_and_what_makes_a_wait_shorter() -> None:
    found = adapt_delay(a_category(), 1, {30: WELL})
    assert found is not None
    assert found.reason == "After 30 seconds already, 18 of 20 retries worked."
