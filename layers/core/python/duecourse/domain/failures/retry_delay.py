"""How long a retry waits: the policy's delay, the server's Retry-After, and jitter."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from duecourse.domain.failures.adaptive_backoff import adapt_delay
from duecourse.domain.failures.failure import Failure
from duecourse.domain.failures.failure_context import UNCOUNTED_ATTEMPTS, FailureContext

if TYPE_CHECKING:
    from duecourse.domain.failures.policy import Category, Policy
    from duecourse.domain.tasks.adapted_delay import AdaptedDelay

MAX_DELAY = timedelta(hours=24)
MIN_RETRY_AFTER = timedelta(minutes=1)
NOT_ATTEMPTED_DELAY = timedelta(minutes=1)
MAX_JITTER = 0.1  # the largest share that is added to a subject's cooldown, or to `MAX_DELAY`


def adapt_policy_delay(category: Category, context: FailureContext) -> AdaptedDelay | None:
    if not context.is_attempted:
        return None
    return adapt_delay(category, context.retry_count, context.retry_outcomes)


@dataclass(frozen=True, kw_only=True, slots=True)
class RetryDelay:
    """How long a retry waits. `delay` is without jitter, at most `MAX_DELAY`.

    `own`: what the policy asks for. `earliest`: what the server asks for, else zero.
    `is_subjects`: the subject cools down for as long.
    """

    delay: timedelta
    own: timedelta
    earliest: timedelta = timedelta(0)
    is_subjects: bool = False


def choose_delay(
    failure: Failure, category: Category, context: FailureContext, own: timedelta
) -> RetryDelay:
    """Return the delay of a retry, where the policy asks for `own`.

    The server's Retry-After can only raise the delay, except that it replaces the delay of a
    category with `server_time_wins`, down to `MIN_RETRY_AFTER`.
    """
    if not context.is_attempted:
        doublings = min(context.attempt, UNCOUNTED_ATTEMPTS) - 1
        delay = NOT_ATTEMPTED_DELAY * (1 << doublings)
        return RetryDelay(delay=delay, own=delay)
    if category.until_budget_clears:
        own = max(context.budget_resets_at - context.failed_at, timedelta(0))
    retry_after = failure.retry_after
    if retry_after is not None and category.server_time_wins:
        own = MIN_RETRY_AFTER
    earliest = min(retry_after or timedelta(0), MAX_DELAY)
    return RetryDelay(delay=min(max(own, earliest), MAX_DELAY), own=own, earliest=earliest)


def jittered_due_at(
    delay: RetryDelay, category: Category, policy: Policy, context: FailureContext
) -> datetime:
    """Return when the retry is due.

    With full jitter at any time up to the policy's delay, counted from the server's time if there
    is one. Tasks of a subject never come before its cooldown ends.
    """
    fraction = stable_fraction(context.jitter_seed)
    # A budget needs no jitter: it admits only as many tasks as it can pay for.
    if category.until_budget_clears:
        return context.failed_at + delay.delay
    if policy.has_full_jitter and not delay.is_subjects:
        latest = min(delay.earliest + delay.own, MAX_DELAY * (1 + MAX_JITTER))
        return context.failed_at + delay.earliest + (latest - delay.earliest) * fraction
    jitter = MAX_JITTER if policy.has_full_jitter else policy.jitter
    return context.failed_at + delay.delay * (1 + jitter * fraction)


def stable_fraction(seed: str) -> float:
    """Return a fraction from 0 up to but not including 1, always the same for the same `seed`."""
    return int.from_bytes(hashlib.sha256(seed.encode()).digest()[:4], "big") / 2**32
