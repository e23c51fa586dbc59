"""Invariants of `/stats` and of the lists of errors: they equal a recount of the error log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from local.simulate.checks.learned import is_corrected
from local.simulate.observed import Observed
from local.simulate.task_records import Json

_BUDGET = "budget_exceeded"
_REPEATED = 4  # errors that count as repeated failure


def categories_listed(observed: Observed) -> Iterator[str | None]:
    """`/errors?category=` lists every failure of that category."""
    if observed.is_uncountable or observed.derived.errors_by_category is None:
        return
    entries = _list_errors(observed)
    for name, listed in observed.derived.errors_by_category.items():
        logged = sorted(entry["id"] for entry in entries if entry["category"] == name)
        text = f"category {name} lists {listed}, the error log has {logged}"
        yield None if list(listed) == logged else text


def days_recounted(observed: Observed) -> Iterator[str | None]:
    """The errors by day, those for lack of budget, and the patterns of rules."""
    if observed.is_uncountable:
        return
    stats, entries = observed.stats, _list_errors(observed)
    by_day = Counter((entry["at"][:10], entry["category"]) for entry in entries)
    counted = {(one["day"], one["category"]): one["count"] for one in stats["errors_by_day"]}
    yield _compare("errors by day", counted, dict(by_day))
    if _has_correction(observed):
        return
    timeline = {
        one["day"]: (one["errors"], one["unique_blocked"]) for one in stats["budget_timeline"]
    }
    yield _compare("the timeline of budgets", timeline, _count_blocked(entries))
    patterns = {(one["category"], one["pattern"]): one["count"] for one in stats["common_patterns"]}
    found = Counter((one["category"], one["pattern"]) for one in entries if one["pattern"])
    yield _compare("common patterns", patterns, dict(found))


def _count_blocked(entries: list[Json]) -> dict[str, tuple[int, int]]:
    """Return the errors for lack of budget by day, and how many tasks or subjects had one."""
    blocked = [(one["at"][:10], one["subject"] or one["task_id"]) for one in entries if _lacks(one)]
    unique = Counter(day for day, _ in set(blocked))
    return {day: (count, unique[day]) for day, count in Counter(day for day, _ in blocked).items()}


def _lacks(entry: Json) -> bool:
    return bool(entry["category"] == _BUDGET)


def recoveries_recounted(observed: Observed) -> Iterator[str | None]:
    """First failures by category, how many recovered, and after how many retries."""
    if observed.is_uncountable:
        return
    entries = _list_errors(observed)
    first = Counter(entry["category"] for entry in entries if entry["attempt"] == 1)
    rates = {one["category"]: one["failures"] for one in observed.stats["recovery_rate"]}
    yield _compare("first failures", rates, dict(first))
    if _has_correction(observed) or any(one.task["verify"] for one in observed.records.values()):
        return  # what is only verified again has not recovered
    recovered = Counter(_list_recovered(observed))
    rates = {
        one["category"]: one["recovered"]
        for one in observed.stats["recovery_rate"]
        if one["recovered"]
    }
    yield _compare("recoveries", rates, dict(recovered))
    retried = [run for run in _list_committed(observed) if run["attempt"] > 1]
    histogram = observed.stats["retries_to_success"]["histogram"]
    yield _compare("successes after retries", sum(histogram.values()), len(retried))
    by_provider = sum(one["recovered"] for one in observed.stats["by_provider"])
    of_actions = [run for run in retried if run["is_of_provider"]]
    yield _compare("recoveries by provider", by_provider, len(of_actions))


def _list_committed(observed: Observed) -> Iterator[Json]:
    for record in observed.records.values():
        for run in record.runs:
            if run["status"] == "committed":
                yield {**run, "is_of_provider": "provider" in record.task["payload"]}


def _list_recovered(observed: Observed) -> Iterator[str]:
    """Yield the category of the first failure of each occurrence that succeeded later."""
    for record in observed.records.values():
        categories = {entry["id"]: entry["category"] for entry in record.errors}
        first: str | None = None
        for run in record.runs:
            first = categories.get(run["id"]) if run["attempt"] == 1 else first
            if run["status"] == "committed" and run["attempt"] > 1 and first:
                yield first


def repeated_recounted(observed: Observed) -> Iterator[str | None]:
    """The tasks and subjects with four errors or more, and the subjects that were given up."""
    if observed.is_uncountable:
        return
    counts = Counter(one["subject"] or one["task_id"] for one in _list_errors(observed))
    expected = {name: count for name, count in counts.items() if count >= _REPEATED}
    listed = {
        one["subject"] or one["task_id"]: one["total_errors"]
        for one in observed.stats["repeated_failures"]
    }
    yield _compare("repeated failures", listed, expected)
    given_up = {
        name: one.failure_count
        for name, one in observed.derived.subjects.items()
        if one.is_given_up
    }
    failing = {one["subject"]: one["failure_count"] for one in observed.stats["top_failing"]}
    yield _compare("subjects that were given up", failing, given_up)


def _list_errors(observed: Observed) -> list[Json]:
    return [entry for record in observed.records.values() for entry in record.errors]


def _has_correction(observed: Observed) -> bool:
    """Return whether something may be counted as it was before a correction."""
    return any(map(is_corrected, observed.records.values()))


def _compare(name: str, counted: object, recount: object) -> str | None:
    return None if counted == recount else f"{name}: /stats has {counted}, the recount {recount}"
