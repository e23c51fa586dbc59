"""A policy: named rules that turn a failure into a category, and what each category leads to.

Policies are data (`duecourse/policies/*.toml`); `policy_file` reads and checks them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from duecourse.domain.failures.classifier.rule import Rule
from duecourse.domain.tasks.recovery_action import Action


class LimitUnit(StrEnum):
    """What a limit counts: the runs in all, or the retries after the first run."""

    RUNS = "runs"
    RETRIES = "retries"


@dataclass(frozen=True, kw_only=True, slots=True)
class Category:
    """`delays` by retry, the last repeating. `limit` None: it is never given up.

    `subject_limit`: failures after which the subject itself is given up. `server_time_wins`: a
    Retry-After replaces the delay, where otherwise it can only raise it.
    """

    name: str
    counts: bool = True
    limit: int | None = None
    delays: tuple[timedelta, ...] = ()
    until_budget_clears: bool = False
    server_time_wins: bool = False
    subject_limit: int | None = None
    trips_breaker: bool = False
    needs_spec_refresh: bool = False
    fix: str = ""

    @property
    def is_external(self) -> bool:
        """A service, a rate or a budget is to blame for it, and no place in the code."""
        return self.trips_breaker or self.server_time_wins or self.until_budget_clears

    def delay(self, retry_count: int) -> timedelta:
        return self.delays[min(retry_count, len(self.delays) - 1)] if self.delays else timedelta(0)


@dataclass(frozen=True, kw_only=True, slots=True)
class Policy:
    """`ladder` has an action for each `retry_count` before the failure, the last repeating; empty
    where failures are simply tried again. `max_retries` is what a task has that names none."""

    name: str
    about: str
    limit_unit: LimitUnit
    max_retries: int
    jitter: float
    fallback: str
    categories: Mapping[str, Category]
    rules: tuple[Rule, ...]
    ladder: tuple[Action, ...] = ()

    @property
    def fallback_category(self) -> Category:
        return self.categories[self.fallback]
