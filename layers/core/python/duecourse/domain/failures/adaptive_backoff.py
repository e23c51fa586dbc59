"""Adapts the retry delay to the outcomes of earlier retries.

The result is always one of the delays that the policy lists.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING

from duecourse.domain.tasks.adapted_delay import AdaptedDelay, RetryOutcomes, to_seconds

if TYPE_CHECKING:
    from duecourse.domain.failures.policy import Category

_UNITS = (("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1))


RetryOutcomesByDelay = Mapping[int, RetryOutcomes]


def adapt_delay(
    category: Category, retry_count: int, outcomes: RetryOutcomesByDelay
) -> AdaptedDelay | None:
    """Return a better delay than the policy's, or None to keep the policy's delay.

    If retries after the policy's delay mostly fail, take the next longer delay that is clearly
    better or has too few samples to tell. Otherwise take the shortest delay that is reliable.
    """
    if category.server_time_wins or category.until_budget_clears or not category.counts:
        return None
    policy_delay, delays = category.delay(retry_count), sorted(set(category.delays))
    policy_outcomes = _outcomes_for(outcomes, policy_delay)
    if policy_outcomes.is_mostly_failing:
        return _choose_longer(
            policy_delay, [delay for delay in delays if delay > policy_delay], outcomes
        )
    shorter = [
        delay
        for delay in delays
        if delay < policy_delay and _outcomes_for(outcomes, delay).is_reliable
    ]
    return _use_shorter(policy_delay, shorter[0], outcomes) if shorter else None


def _choose_longer(
    policy_delay: timedelta, delays: list[timedelta], outcomes: RetryOutcomesByDelay
) -> AdaptedDelay | None:
    policy_outcomes = _outcomes_for(outcomes, policy_delay)
    policy_result = f"After {_format_delay(policy_delay)} {_ratio(policy_outcomes)} retries worked"
    for delay in delays:
        delay_outcomes = _outcomes_for(outcomes, delay)
        if not delay_outcomes.has_enough_samples:
            reason = f"{policy_result}; {_format_delay(delay)} are tried next."
        elif delay_outcomes.is_clearly_better(policy_outcomes):
            reason = f"{policy_result}, after {_format_delay(delay)} {_ratio(delay_outcomes)}."
        else:
            continue
        return AdaptedDelay(
            policy_delay=policy_delay, delay=delay, outcomes=delay_outcomes, reason=reason
        )
    return None


def _use_shorter(
    policy_delay: timedelta, delay: timedelta, outcomes: RetryOutcomesByDelay
) -> AdaptedDelay:
    delay_outcomes = _outcomes_for(outcomes, delay)
    reason = f"After {_format_delay(delay)} already, {_ratio(delay_outcomes)} retries worked."
    return AdaptedDelay(
        policy_delay=policy_delay, delay=delay, outcomes=delay_outcomes, reason=reason
    )


def _ratio(outcomes: RetryOutcomes) -> str:
    return f"{outcomes.succeeded} of {outcomes.attempted}"


def _outcomes_for(outcomes: RetryOutcomesByDelay, delay: timedelta) -> RetryOutcomes:
    return outcomes.get(to_seconds(delay), RetryOutcomes())


def _format_delay(delay: timedelta) -> str:
    """Format as "30 seconds" or "2 minutes", in the largest unit that gives a whole number."""
    seconds = to_seconds(delay)
    for unit, size in _UNITS:
        if seconds % size == 0 and seconds >= size:
            return f"{seconds // size} {unit}{'' if seconds == size else 's'}"
    return "0 seconds"
