"""A policy: rules that give a failure its category, and how each category is retried.

Policies are data (`duecourse/policies/*.toml`); `policy_loader` reads and checks them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from duecourse.domain.failures.classifier.rule import Rule
from duecourse.domain.tasks.failure_kind import Kind
from duecourse.domain.tasks.recovery_action import Action

if TYPE_CHECKING:
    from duecourse.domain.failures.classifier.confidence_table import ConfidenceTable


DEFAULT_MIN_CONFIDENCE = 0.8


class LimitUnit(StrEnum):
    """What a limit counts: all runs, or only the retries after the first run."""

    RUNS = "runs"
    RETRIES = "retries"


@dataclass(frozen=True, kw_only=True, slots=True)
class Category:
    """How failures of one category are retried.

    `kinds`: what kinds of failures it holds; the first is that of a rule that names none.
    `counts`: False if a failure uses up no retry.
    `limit`: caps the task's `max_retries`; None leaves it as it is.
    `delays`: one for each retry; the last one repeats.
    `subject_limit`: after this many failures the subject fails permanently.
    `server_time_wins`: a Retry-After replaces the delay; otherwise it can only raise it.
    """

    name: str
    kinds: tuple[Kind, ...] = ()
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
    def kind(self) -> Kind:
        return self.kinds[0] if self.kinds else Kind.UNKNOWN

    @property
    def is_external(self) -> bool:
        """Return whether a service, a rate limit or a budget caused it, not a place in the code."""
        return self.trips_breaker or self.server_time_wins or self.until_budget_clears

    def delay(self, retry_count: int) -> timedelta:
        return self.delays[min(retry_count, len(self.delays) - 1)] if self.delays else timedelta(0)


@dataclass(frozen=True, kw_only=True, slots=True)
class Policy:
    """Rules and categories under one name.

    `ladder`: the action for each `retry_count` before the failure; the last one repeats. If it is
    empty, failures are simply retried. `max_retries`: the default for tasks that set none.
    `min_confidence`: a failure whose category is less certain has the fallback category.
    `confidence_table`: None if the confidence is what the rules state.
    """

    name: str
    about: str
    limit_unit: LimitUnit
    max_retries: int
    jitter: float
    fallback: str
    categories: Mapping[str, Category]
    rules: tuple[Rule, ...]
    ladder: tuple[Action, ...] = ()
    min_confidence: float = DEFAULT_MIN_CONFIDENCE
    confidence_table: ConfidenceTable | None = field(default=None, compare=False, repr=False)

    @property
    def fallback_category(self) -> Category:
        return self.categories[self.fallback]

    def category_of(self, kind: Kind) -> Category | None:
        """Return the category that names the kind, or None."""
        return next((one for one in self.categories.values() if kind in one.kinds), None)
