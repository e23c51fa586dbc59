"""A policy: rules that give a failure its category, and how each category is retried.

Policies are data (`duecourse/policies/*.toml`); `policy_loader` reads and checks them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    `limit`: caps the task's `max_retries`; None leaves it as it is, 0 allows no retry.
    `delays`: one for each retry; the last one repeats.
    `deadline`: no retry begins later than this after the first failure.
    `at_limit`: what follows when no retry is left; None leaves it to the policy.
    `subject_limit`: after this many failures the subject fails permanently.
    `subject_delays`: replace `delays` for a failure that its subject counts, one for each of these.
    `server_time_wins`: a Retry-After replaces the delay; otherwise it can only raise it.
    """

    name: str
    kinds: tuple[Kind, ...] = ()
    counts: bool = True
    limit: int | None = None
    delays: tuple[timedelta, ...] = ()
    deadline: timedelta | None = None
    at_limit: Action | None = None
    until_budget_clears: bool = False
    server_time_wins: bool = False
    subject_limit: int | None = None
    subject_delays: tuple[timedelta, ...] = ()
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
        return _nth_delay(self.delays, retry_count)

    def subject_delay(self, failure_count: int) -> timedelta:
        """Return the delay after a subject failed, which had failed `failure_count` times before.

        Zero if the category has no delays for subjects.
        """
        return _nth_delay(self.subject_delays, failure_count)


def _nth_delay(delays: Sequence[timedelta], index: int) -> timedelta:
    return delays[min(index, len(delays) - 1)] if delays else timedelta(0)


@dataclass(frozen=True, kw_only=True, slots=True)
class Policy:
    """Rules and categories under one name.

    `ladder`: the action for each `retry_count` before the failure; the last one repeats. If it is
    empty, failures are simply retried. `max_retries`: the default for tasks that set none.
    `jitter`: the largest share of a delay that is added to it. With `has_full_jitter`, a retry
    comes at any time up to the delay instead.
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
    has_full_jitter: bool = False
    min_confidence: float = DEFAULT_MIN_CONFIDENCE
    confidence_table: ConfidenceTable | None = field(default=None, compare=False, repr=False)

    @property
    def final_action(self) -> Action:
        """Return what follows when nothing is left to try, unless the category has its own."""
        steps = {*self.ladder, *(one.at_limit for one in self.categories.values())}
        return Action.GIVE_UP if steps <= {Action.GIVE_UP, None} else Action.MARK_AS_BLOCKED

    @property
    def has_subject_delays(self) -> bool:
        return any(one.subject_delays for one in self.categories.values())

    @property
    def fallback_category(self) -> Category:
        return self.categories[self.fallback]

    def category_of(self, kind: Kind) -> Category | None:
        """Return the category that names the kind, or None."""
        return next((one for one in self.categories.values() if kind in one.kinds), None)
