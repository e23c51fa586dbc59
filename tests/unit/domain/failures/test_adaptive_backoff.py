"""Adapted retry delays: chosen on evidence, and only among the delays of the policy."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from duecourse.domain.failures.adaptive_backoff import adapt_delay
from duecourse.domain.failures.policy import Category
from duecourse.domain.tasks.adapted_delay import MIN_SAMPLES, AdaptedDelay, RetryOutcomes

SECOND = timedelta(seconds=1)
MOSTLY_SUCCEEDED, MOSTLY_FAILED, HALF_SUCCEEDED = (
    RetryOutcomes(20, 18),
    RetryOutcomes(20, 9),
    RetryOutcomes(20, 10),
)


def a_category(**fields: Any) -> Category:
    delays = tuple(seconds * SECOND for seconds in (30, 120, 300))
    return Category(**{"name": "transient", "delays": delays, **fields})


def adapted_seconds(
    outcomes_by_delay: dict[int, RetryOutcomes], retry_count: int = 0, **fields: Any
) -> float | None:
    """Return the delay that replaces the policy's, in seconds, or None."""
    adapted = adapt_delay(a_category(**fields), retry_count, outcomes_by_delay)
    return adapted.delay.total_seconds() if adapted else None


def test_no_delay_is_adapted_without_evidence() -> None:
    assert [adapted_seconds({}, n) for n in range(5)] == [None] * 5


@pytest.mark.parametrize(
    "outcomes",
    [RetryOutcomes(19, 0), RetryOutcomes(20, 10), RetryOutcomes(100, 50), MOSTLY_SUCCEEDED],
)
def test_a_delay_that_succeeds_or_has_few_samples_is_kept(outcomes: RetryOutcomes) -> None:
    assert adapted_seconds({30: outcomes}) is None


def test_a_delay_that_mostly_fails_is_replaced_by_a_longer_untested_one() -> None:
    assert adapted_seconds({30: MOSTLY_FAILED}) == 120
    assert adapted_seconds({30: MOSTLY_FAILED, 120: RetryOutcomes(19, 0)}) == 120


def test_a_longer_delay_must_have_succeeded_clearly_more_often() -> None:
    low_success = RetryOutcomes(100, 20)
    assert adapted_seconds({30: low_success, 120: RetryOutcomes(100, 30)}) == 120
    assert (
        adapted_seconds({30: low_success, 120: RetryOutcomes(100, 29), 300: RetryOutcomes(100, 29)})
        is None
    )
    assert (
        adapted_seconds({30: low_success, 120: RetryOutcomes(100, 29), 300: RetryOutcomes(20, 6)})
        == 300
    )


def test_no_delay_is_better_if_none_ever_succeeded() -> None:
    no_success = RetryOutcomes(MIN_SAMPLES, 0)
    assert adapted_seconds({30: no_success, 120: no_success, 300: no_success}) is None
    assert (
        adapted_seconds({30: no_success, 120: no_success, 300: RetryOutcomes(MIN_SAMPLES, 1)})
        == 300
    )


def test_the_longest_delay_is_kept() -> None:
    assert adapted_seconds({300: RetryOutcomes(50, 0)}, retry_count=2) is None
    assert adapted_seconds({300: RetryOutcomes(50, 0)}, retry_count=9) is None


def test_a_shorter_delay_that_nearly_always_succeeds_is_used() -> None:
    assert adapted_seconds({30: MOSTLY_SUCCEEDED}, retry_count=1) == 30
    assert adapted_seconds({30: RetryOutcomes(20, 17), 120: MOSTLY_SUCCEEDED}, retry_count=2) == 120
    assert adapted_seconds({30: MOSTLY_SUCCEEDED, 120: MOSTLY_SUCCEEDED}, retry_count=2) == 30


def test_a_shorter_delay_with_few_samples_is_not_used() -> None:
    assert adapted_seconds({30: RetryOutcomes(19, 19)}, retry_count=1) is None


def test_a_failing_delay_is_lengthened_even_if_a_shorter_one_succeeds() -> None:
    """The second retry covers the failures that the first retry did not fix."""
    assert adapted_seconds({30: RetryOutcomes(1000, 950), 120: MOSTLY_FAILED}, retry_count=1) == 300
    assert adapted_seconds({30: RetryOutcomes(1000, 950), 120: HALF_SUCCEEDED}, retry_count=1) == 30


@pytest.mark.parametrize(
    "fields", [{"server_time_wins": True}, {"until_budget_clears": True}, {"counts": False}]
)
def test_a_delay_set_by_a_server_or_a_budget_is_not_adapted(fields: dict[str, Any]) -> None:
    assert adapted_seconds({30: MOSTLY_FAILED}, **fields) is None


def test_a_category_without_delays_is_not_adapted() -> None:
    assert adapted_seconds({0: MOSTLY_FAILED}, delays=()) is None


def test_delays_that_the_policy_no_longer_has_are_ignored() -> None:
    assert adapted_seconds({30: MOSTLY_FAILED, 45: MOSTLY_SUCCEEDED, 600: MOSTLY_SUCCEEDED}) == 120


def test_the_reason_states_the_evidence_for_a_longer_delay() -> None:
    adapted = adapt_delay(a_category(), 0, {30: RetryOutcomes(25, 4), 120: RetryOutcomes(40, 30)})
    assert adapted == AdaptedDelay(
        policy_delay=30 * SECOND,
        delay=120 * SECOND,
        outcomes=RetryOutcomes(40, 30),
        reason="After 30 seconds 4 of 25 retries worked, after 2 minutes 30 of 40.",
    )
    assert adapted.to_json() == {
        "policy_delay_seconds": 30,
        "delay_seconds": 120,
        "tried": 40,
        "worked": 30,
        "because": adapted.reason,
    }


def test_the_reason_states_that_the_longer_delay_is_untested() -> None:
    adapted = adapt_delay(a_category(), 0, {30: MOSTLY_FAILED, 120: RetryOutcomes(1, 1)})
    assert adapted is not None
    assert adapted.reason == ("After 30 seconds 9 of 20 retries worked; 2 minutes are tried next.")


def test_the_reason_states_the_evidence_for_a_shorter_delay() -> None:
    adapted = adapt_delay(a_category(), 1, {30: MOSTLY_SUCCEEDED})
    assert adapted is not None
    assert adapted.reason == "After 30 seconds already, 18 of 20 retries worked."
