"""Learned failure patterns: corrections as items, everything else from counters and run records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from pynamodb.expressions.operand import Path
from pynamodb.expressions.update import Action

from duecourse.adapters.aws.dynamodb.conditions import update_if
from duecourse.adapters.aws.dynamodb.raw_items import find_item
from duecourse.adapters.aws.dynamodb.stored_item import read_item, read_items
from duecourse.adapters.aws.dynamodb.tracking_models import PatternItem
from duecourse.domain.failures.adaptive_backoff import RetryOutcomesByDelay
from duecourse.domain.journal.increment import Increment
from duecourse.domain.journal.learned_patterns import (
    Correction,
    LearnedPattern,
    ObservedFailure,
    counted_failure,
    recent_months,
)
from duecourse.domain.journal.learning_counters import (
    PatternCounts,
    read_pattern_counts,
    read_retry_outcomes,
)
from duecourse.domain.limits.budget import utc_date
from duecourse.domain.time.instant import from_text, to_text
from duecourse.domain.time.utc_days import utc_day
from duecourse.ports.journal import Counters, ErrorLog

RETENTION = timedelta(days=90)
CORRECTED_RETENTION = timedelta(days=400)
OUTCOMES_CACHED_FOR = timedelta(minutes=5)


class DynamoPatterns:
    def __init__(self, counters: Counters, error_log: ErrorLog) -> None:
        self._counters = counters
        self._error_log = error_log
        self._outcomes: tuple[datetime, Sequence[Increment]] | None = None

    def find_correction(self, policy: str, fingerprint: str, *, now: datetime) -> Correction | None:
        item = find_item(PatternItem, _patterns_key(policy), fingerprint)
        if item is None or not _is_unexpired(item, now):
            return None
        return read_item(item, _to_correction)

    def list_newest(self, policy: str, *, limit: int, now: datetime) -> Sequence[LearnedPattern]:
        since = utc_day(now - RETENTION)
        counts = read_pattern_counts(policy, self._counters.read_since(since, now=now))
        observed = self._find_latest(policy, counts, limit=limit)
        items = _load_items(policy, observed, limit=limit, now=now)
        found = [
            _to_pattern(
                policy, fingerprint, counts.get(fingerprint, PatternCounts()), items, observed
            )
            for fingerprint in {*items, *observed}
        ]
        return sorted(found, key=lambda one: one.last_seen_at, reverse=True)[:limit]

    def _find_latest(
        self, policy: str, counts: Mapping[str, PatternCounts], *, limit: int
    ) -> Mapping[str, ObservedFailure]:
        """Return the latest failure of the patterns that were seen last, by fingerprint."""
        counted = [(ref, name) for name, one in counts.items() if (ref := one.latest)]
        newest = sorted(counted, reverse=True)[:limit]
        by_run = self._error_log.find_records(ref for ref, _ in newest)
        latest = {
            name: counted_failure(policy, name, record.run, record.former_detail)
            for ref, name in newest
            if (record := by_run.get(ref.run_id))
        }
        return {name: failure for name, failure in latest.items() if failure is not None}

    def record_correction(self, observed: ObservedFailure, correction: Correction) -> None:
        last_seen, times = PatternItem.last_seen, PatternItem.times
        by, of = PatternItem.corrected_by, PatternItem.corrected_from
        kind = PatternItem.corrected_kind
        PatternItem(_patterns_key(observed.policy), observed.fingerprint).update(
            [
                PatternItem.corrected_category.set(correction.category),
                kind.set(correction.kind) if correction.kind else kind.remove(),
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
            PatternItem.corrected_kind.remove(),
            PatternItem.corrected_at.remove(),
            PatternItem.corrected_by.remove(),
            PatternItem.corrected_from.remove(),
            PatternItem.category.set(PatternItem.read_as),
            _set_expiry(now + RETENTION),
        ]
        return update_if(item, changes, condition=PatternItem.corrected_category.exists())

    def get_retry_outcomes(
        self, policy: str, category: str, *, now: datetime
    ) -> RetryOutcomesByDelay:
        if self._outcomes is None or now - self._outcomes[0] >= OUTCOMES_CACHED_FOR:
            self._outcomes = now, self._read_recent_months(now)
        return read_retry_outcomes(policy, self._outcomes[1]).get(category, {})

    def get_all_retry_outcomes(
        self, policy: str, *, now: datetime
    ) -> Mapping[str, RetryOutcomesByDelay]:
        return read_retry_outcomes(policy, self._read_recent_months(now))

    def _read_recent_months(self, now: datetime) -> Sequence[Increment]:
        months = recent_months(utc_date(now))
        found = self._counters.read_since(f"{min(months)}-01", now=now)
        return [one for one in found if one.day[:7] in months]


def _patterns_key(policy: str) -> str:
    return f"patterns#{policy}"


def _load_items(
    policy: str, fingerprints: Iterable[str], *, limit: int, now: datetime
) -> Mapping[str, PatternItem]:
    """Return the items of these patterns, and the newest of all items."""
    key = _patterns_key(policy)
    newest = PatternItem.newest_index.query(key, scan_index_forward=False, limit=limit)
    known = {item.counter: item for item in newest}
    missing = [(key, fingerprint) for fingerprint in fingerprints if fingerprint not in known]
    known |= {item.counter: item for item in PatternItem.batch_get(missing)} if missing else {}
    current = (item for item in known.values() if _is_unexpired(item, now))
    return {item.counter: item for item in read_items(current, _check_item)}


def _check_item(item: PatternItem) -> PatternItem:
    """Raise what reading the item raises, so that an unreadable one is left out."""
    _to_correction(item)
    from_text(item.last_seen)
    return item


def _set_expiry(instant: datetime) -> Action:
    return Path("expires_at").set(int(instant.timestamp()))


def _is_unexpired(item: PatternItem, now: datetime) -> bool:
    """Return whether the TTL has not passed. DynamoDB may delete expired items days later."""
    return item.unreadable is not None or item.expires_at > now.timestamp()


def _to_pattern(
    policy: str,
    fingerprint: str,
    counts: PatternCounts,
    items: Mapping[str, PatternItem],
    observed: Mapping[str, ObservedFailure],
) -> LearnedPattern:
    """Return the pattern as its latest failure, its item (if any) and the counters tell it.

    An item's own counts are those of version 0.1.
    """
    item, latest = items.get(fingerprint), observed.get(fingerprint)
    if latest is None:
        latest = _latest_of_item(policy, items[fingerprint])
    return LearnedPattern(
        policy=policy,
        fingerprint=fingerprint,
        category=latest.category,
        rule_category=latest.rule_category,
        kind=latest.kind,
        rule_kind=latest.rule_kind,
        example=latest.example,
        last_seen_at=latest.observed_at,
        count=counts.seen + int((item and item.times) or 0),
        retries_attempted=counts.tried + int((item and item.tried) or 0),
        retries_succeeded=counts.worked + int((item and item.worked) or 0),
        correction=_to_correction(item) if item else None,
    )


def _latest_of_item(policy: str, item: PatternItem) -> ObservedFailure:
    return ObservedFailure(
        policy=policy,
        fingerprint=item.counter,
        category=item.category,
        rule_category=item.read_as,
        example=item.example,
        observed_at=from_text(item.last_seen),
    )


def _to_correction(item: PatternItem) -> Correction | None:
    if item.corrected_category is None or item.corrected_at is None:
        return None
    at = from_text(item.corrected_at)
    return Correction(
        category=item.corrected_category,
        kind=item.corrected_kind,
        corrected_at=at,
        corrected_by=item.corrected_by,
        rule_category=item.corrected_from,
    )
