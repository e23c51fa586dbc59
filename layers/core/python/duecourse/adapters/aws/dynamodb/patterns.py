"""Learned failure patterns and retry outcomes, counted by atomic updates without a read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from pynamodb.exceptions import DoesNotExist
from pynamodb.expressions.operand import Path
from pynamodb.expressions.update import Action

from duecourse.adapters.aws.dynamodb.conditions import update_if
from duecourse.adapters.aws.dynamodb.stored_item import read_item, read_items
from duecourse.adapters.aws.dynamodb.tracking_models import CounterItem, PatternItem
from duecourse.domain.failures.adaptive_backoff import RetryOutcomesByDelay
from duecourse.domain.journal.learned_patterns import (
    Correction,
    LearnedPattern,
    ObservedFailure,
    recent_months,
)
from duecourse.domain.limits.budget import utc_date
from duecourse.domain.tasks.adapted_delay import RetryOutcomes
from duecourse.domain.tasks.run import PreviousFailure
from duecourse.domain.time.instant import from_text, to_text

RETENTION = timedelta(days=90)
CORRECTED_RETENTION = timedelta(days=400)
MAX_DELAY_ITEMS = 1_000  # a few for each category and month; only a broken policy has that many
_TRIED_PREFIX, _WORKED_PREFIX = "t", "w"


class DynamoPatterns:
    def find(self, policy: str, fingerprint: str, *, now: datetime) -> LearnedPattern | None:
        try:
            item = PatternItem.get(_patterns_key(policy), fingerprint)
        except DoesNotExist:
            return None
        return read_item(item, _to_pattern) if _is_unexpired(item, now) else None

    def list_newest(self, policy: str, *, limit: int, now: datetime) -> Sequence[LearnedPattern]:
        found = PatternItem.newest_index.query(
            _patterns_key(policy), scan_index_forward=False, limit=limit
        )
        return list(read_items((item for item in found if _is_unexpired(item, now)), _to_pattern))

    def record_observation(self, observed: ObservedFailure) -> None:
        """Count one observed failure. Patterns with a correction get the longer retention.

        Most have none, so the update for those is tried first.
        """
        item = _item_of(observed)
        changes = [
            PatternItem.times.add(1),
            PatternItem.category.set(observed.category),
            PatternItem.read_as.set(observed.rule_category),
            PatternItem.example.set(observed.example),
            PatternItem.last_seen.set(to_text(observed.observed_at)),
            PatternItem.repeats.set(_patterns_key(observed.policy)),
        ]
        is_uncorrected = PatternItem.corrected_category.does_not_exist()
        if not update_if(
            item,
            [*changes, _set_expiry(observed.observed_at + RETENTION)],
            condition=is_uncorrected,
        ):
            item.update([*changes, _set_expiry(observed.observed_at + CORRECTED_RETENTION)])

    def record_correction(self, observed: ObservedFailure, correction: Correction) -> None:
        last_seen, times = PatternItem.last_seen, PatternItem.times
        by, of = PatternItem.corrected_by, PatternItem.corrected_from
        _item_of(observed).update(
            [
                PatternItem.corrected_category.set(correction.category),
                PatternItem.corrected_at.set(to_text(correction.corrected_at)),
                by.set(correction.corrected_by) if correction.corrected_by else by.remove(),
                of.set(correction.rule_category) if correction.rule_category else of.remove(),
                PatternItem.category.set(correction.category),
                PatternItem.read_as.set(observed.rule_category),
                PatternItem.example.set(observed.example),
                times.set(times | 0),
                last_seen.set(last_seen | to_text(observed.observed_at)),
                PatternItem.repeats.set(_patterns_key(observed.policy)),
                _set_expiry(correction.corrected_at + CORRECTED_RETENTION),
            ]
        )

    def remove_correction(self, policy: str, fingerprint: str, *, now: datetime) -> bool:
        item = PatternItem(_patterns_key(policy), fingerprint)
        changes = [
            PatternItem.corrected_category.remove(),
            PatternItem.corrected_at.remove(),
            PatternItem.corrected_by.remove(),
            PatternItem.corrected_from.remove(),
            PatternItem.category.set(PatternItem.read_as),
            _set_expiry(now + RETENTION),
        ]
        return update_if(item, changes, condition=PatternItem.corrected_category.exists())

    def record_retry(
        self, policy: str, previous_failure: PreviousFailure, *, has_succeeded: bool, at: datetime
    ) -> None:
        if previous_failure.fingerprint is not None:
            item = PatternItem(_patterns_key(policy), previous_failure.fingerprint)
            changes = [PatternItem.tried.add(1), PatternItem.worked.add(int(has_succeeded))]
            update_if(item, changes, condition=PatternItem.times.exists())
        if previous_failure.delay_seconds is not None:
            month, _ = recent_months(utc_date(at))
            counter = CounterItem(_delays_key(policy), f"{previous_failure.category}#{month}")
            tried = Path(f"{_TRIED_PREFIX}{previous_failure.delay_seconds}").add(1)
            succeeded = Path(f"{_WORKED_PREFIX}{previous_failure.delay_seconds}").add(
                int(has_succeeded)
            )
            counter.update([tried, succeeded, _set_expiry(at + RETENTION)])

    def get_retry_outcomes(
        self, policy: str, category: str, *, now: datetime
    ) -> RetryOutcomesByDelay:
        found: dict[int, RetryOutcomes] = {}
        for month in recent_months(utc_date(now)):
            try:
                item = CounterItem.get(_delays_key(policy), f"{category}#{month}")
            except DoesNotExist:
                continue
            _add_retry_outcomes(found, item)
        return found

    def get_all_retry_outcomes(
        self, policy: str, *, now: datetime
    ) -> Mapping[str, RetryOutcomesByDelay]:
        months = recent_months(utc_date(now))
        found: dict[str, dict[int, RetryOutcomes]] = {}
        for item in CounterItem.query(_delays_key(policy), limit=MAX_DELAY_ITEMS):
            category, _, month = item.counter.rpartition("#")
            if month in months:
                _add_retry_outcomes(found.setdefault(category, {}), item)
        return found


def _patterns_key(policy: str) -> str:
    return f"patterns#{policy}"


def _delays_key(policy: str) -> str:
    return f"delays#{policy}"


def _item_of(observed: ObservedFailure) -> PatternItem:
    return PatternItem(_patterns_key(observed.policy), observed.fingerprint)


def _set_expiry(instant: datetime) -> Action:
    return Path("expires_at").set(int(instant.timestamp()))


def _is_unexpired(item: PatternItem, now: datetime) -> bool:
    """Return whether the TTL has not passed. DynamoDB may delete expired items days later."""
    return item.unreadable is not None or item.expires_at > now.timestamp()


def _to_pattern(item: PatternItem) -> LearnedPattern:
    return LearnedPattern(
        policy=item.day.partition("#")[2],
        fingerprint=item.counter,
        category=item.category,
        rule_category=item.read_as,
        example=item.example,
        last_seen_at=from_text(item.last_seen),
        count=int(item.times),
        retries_attempted=int(item.tried or 0),
        retries_succeeded=int(item.worked or 0),
        correction=_to_correction(item),
    )


def _to_correction(item: PatternItem) -> Correction | None:
    if item.corrected_category is None or item.corrected_at is None:
        return None
    at = from_text(item.corrected_at)
    return Correction(
        category=item.corrected_category,
        corrected_at=at,
        corrected_by=item.corrected_by,
        rule_category=item.corrected_from,
    )


def _add_retry_outcomes(outcomes: dict[int, RetryOutcomes], item: CounterItem) -> None:
    """Add the item's outcomes to `outcomes`.

    `t30` counts the retries after 30 seconds, `w30` those of them that succeeded.
    """
    for name, tried in item.numbers.items():
        if name.startswith(_TRIED_PREFIX):
            seconds = int(name.removeprefix(_TRIED_PREFIX))
            tries = RetryOutcomes(tried, item.numbers.get(f"{_WORKED_PREFIX}{seconds}", 0))
            outcomes[seconds] = outcomes.get(seconds, RetryOutcomes()).add(tries)
