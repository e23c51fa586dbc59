"""How long a retry waits: the policy's delay, the server's Retry-After, and jitter."""

from __future__ import annotations

import hashlib
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


def adapt_policy_delay(category: Category, context: FailureContext) -> AdaptedDelay | None:
    if not context.is_attempted:
        return None
    return adapt_delay(category, context.retry_count, context.retry_outcomes)


def choose_delay(
    failure: Failure, category: Category, context: FailureContext, adapted: AdaptedDelay | None
) -> timedelta:
    """Return the delay without jitter, at most `MAX_DELAY`.

    The server's Retry-After can only raise the delay, except that it replaces the delay of a
    category with `server_time_wins`, down to `MIN_RETRY_AFTER`.
    """
    if not context.is_attempted:
        doublings = min(context.attempt, UNCOUNTED_ATTEMPTS) - 1
        return NOT_ATTEMPTED_DELAY * (1 << doublings)
    policy_delay = adapted.delay if adapted else category.delay(context.retry_count)
    if category.until_budget_clears:
        policy_delay = max(context.budget_resets_at - context.failed_at, timedelta(0))
    retry_after = failure.retry_after
    if retry_after is not None and category.server_time_wins:
        policy_delay = MIN_RETRY_AFTER
    return min(max(policy_delay, retry_after or policy_delay), MAX_DELAY)


def jittered_due_at(
    delay: timedelta, category: Category, policy: Policy, context: FailureContext
) -> datetime:
    # A budget needs no jitter: it admits only as many tasks as it can pay for.
    jitter = 0.0 if category.until_budget_clears else policy.jitter
    return context.failed_at + delay * (1 + jitter * stable_fraction(context.jitter_seed))


def stable_fraction(seed: str) -> float:
    """Return a fraction from 0 up to but not including 1, always the same for the same `seed`."""
    return int.from_bytes(hashlib.sha256(seed.encode()).digest()[:4], "big") / 2**32
