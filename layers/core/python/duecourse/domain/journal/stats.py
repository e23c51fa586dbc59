"""Statistics over several days, computed from the daily counters."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from duecourse.domain.failures.subject import Subject
from duecourse.domain.journal.counters import (
    AFTER_RETRIES_COUNTER,
    BUCKET_PREFIX,
    CATEGORY_PREFIX,
    LATENESS_COUNTER,
    PATTERN_PREFIX,
    PROVIDER_PREFIX,
    RETRIES_PREFIX,
)
from duecourse.domain.journal.daily_counter import CounterTotal, DailyCounter
from duecourse.domain.journal.failure_tracker import FailureTracker
from duecourse.domain.journal.lateness import percentile, to_bars
from duecourse.domain.tasks.failure_kind import Kind, kind_to_json
from duecourse.domain.tasks.recent_errors import BUDGET_EXCEEDED
from duecourse.domain.time.instant import to_text

MAX_LISTED = 20
MAX_DAYS = 30
_PERCENTILES = {"p50": 50, "p95": 95, "p99": 99}


@dataclass(frozen=True, kw_only=True, slots=True)
class StatsWindow:
    """The last UTC days, today first, and everything recorded on them."""

    days: Sequence[str]
    counters: Sequence[DailyCounter]
    failed_subjects: Sequence[Subject]
    repeated_failures: Sequence[FailureTracker]


def stats_to_json(window: StatsWindow) -> dict[str, Any]:
    totals = _sum_counters(window.counters)
    return {
        "days": len(window.days),
        "errors_by_category": _errors_by_category(totals),
        "errors_by_kind": _errors_by_kind(totals),
        "errors_by_day": _errors_by_day(window.counters),
        "recovery_rate": _recovery_rate(totals),
        "top_failing": [
            _subject_to_json(subject) for subject in window.failed_subjects[:MAX_LISTED]
        ],
        "repeated_failures": _repeated_failures(window.repeated_failures, since=min(window.days)),
        "budget_timeline": _budget_timeline(window.counters),
        "retries_to_success": _retries_to_success(totals[AFTER_RETRIES_COUNTER]),
        "common_patterns": _common_patterns(totals),
        "lateness": _lateness(totals[LATENESS_COUNTER]),
        "by_provider": _by_provider(totals),
    }


Totals = Mapping[str, CounterTotal]


def _sum_counters(counters: Sequence[DailyCounter]) -> Totals:
    totals: defaultdict[str, CounterTotal] = defaultdict(CounterTotal)
    for one in counters:
        totals[one.name].add(one)
    return totals


def _counters_with_prefix(totals: Totals, prefix: str) -> Iterator[tuple[str, CounterTotal]]:
    for counter, total in totals.items():
        if counter.startswith(prefix):
            yield counter.removeprefix(prefix), total


def _errors_by_category(totals: Totals) -> list[dict[str, Any]]:
    found = [
        {
            "category": name,
            "count": total["errors"],
            "avg_retry_count": _ratio(total["retries"], total["errors"]),
            "first_seen": total.first_seen,
            "last_seen": total.last_seen,
        }
        for name, total in _counters_with_prefix(totals, CATEGORY_PREFIX)
        if total["errors"]
    ]
    return _sort_descending(found, "count", "category")


def _errors_by_kind(totals: Totals) -> list[dict[str, Any]]:
    """Return the errors by kind. Those from before there were kinds are in none."""
    counts: Counter[Kind] = Counter()
    for _, total in _counters_with_prefix(totals, CATEGORY_PREFIX):
        counts.update(total.count_kinds())
    found = [{**kind_to_json(kind), "count": count} for kind, count in counts.items() if count]
    return _sort_descending(found, "count", "kind")


def _errors_by_day(counters: Sequence[DailyCounter]) -> list[dict[str, Any]]:
    found = [
        (one.day, one.name.removeprefix(CATEGORY_PREFIX), one.numbers["errors"])
        for one in counters
        if one.name.startswith(CATEGORY_PREFIX) and one.numbers.get("errors")
    ]
    return [{"day": day, "category": name, "count": count} for day, name, count in sorted(found)]


def _recovery_rate(totals: Totals) -> list[dict[str, Any]]:
    found = [
        {
            "category": name,
            "failures": total["failures"],
            "recovered": total["recovered"],
            "percent": _ratio(100 * total["recovered"], total["failures"]),
        }
        for name, total in _counters_with_prefix(totals, CATEGORY_PREFIX)
        if total["failures"]
    ]
    return _sort_descending(found, "failures", "category")


def _subject_to_json(subject: Subject) -> dict[str, Any]:
    tried_at = subject.last_attempt_at
    return {
        "subject": subject.id,
        "failure_count": subject.failure_count,
        "status": str(subject.status) if subject.status else None,
        "last_error_category": subject.last_error_category,
        **kind_to_json(subject.last_error_kind, prefix="last_error_"),
        "last_error_message": subject.last_error_message,
        "last_attempt_at": to_text(tried_at) if tried_at else None,
    }


def _repeated_failures(trackers: Sequence[FailureTracker], *, since: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = [
        {
            "subject": tracker.subject,
            "task_id": tracker.task_id,
            "total_errors": tracker.errors.count_since(since),
            "last_error_category": tracker.errors.last_category,
            **kind_to_json(tracker.last_kind, prefix="last_error_"),
            "last_error_at": to_text(tracker.last_error_at),
        }
        for tracker in sorted(trackers, key=lambda one: one.last_error_at, reverse=True)
    ]
    return sorted(found, key=lambda one: -one["total_errors"])[:MAX_LISTED]


def _budget_timeline(counters: Sequence[DailyCounter]) -> list[dict[str, Any]]:
    found = [
        {
            "day": one.day,
            "errors": one.numbers.get("errors", 0),
            "unique_blocked": one.numbers.get("blocked", 0),
        }
        for one in counters
        if one.name == CATEGORY_PREFIX + BUDGET_EXCEEDED and one.numbers.get("errors")
    ]
    return sorted(found, key=lambda one: str(one["day"]), reverse=True)


def _retries_to_success(total: CounterTotal) -> dict[str, Any]:
    histogram = total.histogram(RETRIES_PREFIX)
    return {
        "average": _ratio(total["retries"], total["runs"]),
        "histogram": {str(retries): count for retries, count in histogram.items()},
    }


def _common_patterns(totals: Totals) -> list[dict[str, Any]]:
    found = []
    for name, total in _counters_with_prefix(totals, PATTERN_PREFIX):
        category, _, pattern = name.partition("#")
        if not total["errors"]:
            continue  # its runs were corrected
        kinds = +total.count_kinds()
        found.append(
            {
                "pattern": pattern,
                "category": category,
                **kind_to_json(max(kinds, key=lambda kind: (kinds[kind], kind), default=None)),
                "count": total["errors"],
                "last_seen": total.last_seen,
            }
        )
    return _sort_descending(found, "count", "pattern")[:MAX_LISTED]


def _lateness(total: CounterTotal) -> dict[str, Any]:
    buckets, largest = total.histogram(BUCKET_PREFIX), total["max"]
    percentiles = {
        name: percentile(buckets, n, max_value=largest) for name, n in _PERCENTILES.items()
    }
    return {
        "count": total["runs"],
        **percentiles,
        "max": largest if total["runs"] else None,
        "histogram": [{"up_to_ms": bar.up_to_ms, "count": bar.count} for bar in to_bars(buckets)],
    }


def _by_provider(totals: Totals) -> list[dict[str, Any]]:
    found = [
        {
            "provider": name,
            "runs": total["runs"],
            "failures": total["failures"],
            "recovered": total["recovered"],
            "failure_percent": _ratio(100 * total["failures"], total["runs"]),
            "avg_duration_ms": _ratio(total["ms"], total["timed"]),
        }
        for name, total in _counters_with_prefix(totals, PROVIDER_PREFIX)
    ]
    return _sort_descending(found, "runs", "provider")


def _ratio(part: int, whole: int) -> float | None:
    return round(part / whole, 1) if whole else None


def _sort_descending(rows: list[dict[str, Any]], number: str, name: str) -> list[dict[str, Any]]:
    """Sort by `number`, descending. Ties are sorted by `name`, so that the order is stable."""
    return sorted(rows, key=lambda one: (-one[number], one[name]))
