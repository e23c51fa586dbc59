"""List what was learned from failures, for one policy or all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from duecourse.domain.journal.learned_patterns import LearnedPattern
from duecourse.domain.tasks.adapted_delay import RetryOutcomes
from duecourse.ports.journal import Patterns


@dataclass(frozen=True)
class DelayOutcomes:
    policy: str
    category: str
    seconds: int
    outcomes: RetryOutcomes


def read_patterns(
    policies: Iterable[str], *, limit: int, patterns: Patterns, now: datetime
) -> Sequence[LearnedPattern]:
    """Return patterns, most recently seen first, with one read per policy."""
    learned = [
        pattern
        for policy in policies
        for pattern in patterns.list_newest(policy, limit=limit, now=now)
    ]
    return sorted(learned, key=lambda pattern: pattern.last_seen_at, reverse=True)[:limit]


def read_delays(
    policies: Iterable[str], *, patterns: Patterns, now: datetime
) -> Sequence[DelayOutcomes]:
    return [
        DelayOutcomes(policy, category, seconds, outcomes)
        for policy in sorted(policies)
        for category, by_seconds in sorted(patterns.get_all_retry_outcomes(policy, now=now).items())
        for seconds, outcomes in sorted(by_seconds.items())
    ]
