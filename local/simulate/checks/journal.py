"""Invariants of what is derived from the stream: history, error log, statistics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import timedelta
from itertools import pairwise

from duecourse.domain.tasks.event import EventType
from duecourse.domain.time.instant import from_text

from local.simulate.observed import Observed
from local.simulate.task_records import Json

# By the status of a task: the event that its history must end with, among these.
LAST_EVENT = {
    "delivered": EventType.TASK_DELIVERED,
    "completed": EventType.TASK_COMPLETED,
    "failed": EventType.TASK_FAILED,
    "cancelled": EventType.TASK_CANCELLED,
}
_ENDS = frozenset(LAST_EVENT.values())


def failures_logged_once(observed: Observed) -> Iterator[str | None]:
    """The error log has one entry for each failed run, and no other."""
    for record in observed.records.values():
        failed = sorted(run["id"] for run in record.runs if run["category"] is not None)
        logged = sorted(entry["id"] for entry in record.errors)
        text = f"task {record.name}: failed runs {failed}, logged {logged}"
        yield None if logged == failed else text


def stats_recounted(observed: Observed) -> Iterator[str | None]:
    if observed.is_uncountable:
        return
    counted = {one["category"]: one["count"] for one in observed.stats["errors_by_category"]}
    entries = [entry for record in observed.records.values() for entry in record.errors]
    recount = Counter(entry["category"] for entry in entries)
    yield None if counted == dict(recount) else f"/stats counts {counted}, the runs {dict(recount)}"
    kinds = {one["kind"]: one["count"] for one in observed.stats["errors_by_kind"]}
    recounted = Counter(entry["kind"] for entry in entries if entry["kind"])
    yield None if kinds == dict(recounted) else f"/stats counts {kinds}, the runs {dict(recounted)}"


def providers_recounted(observed: Observed) -> Iterator[str | None]:
    """Every ended run of an action is counted once for its provider, and every failure too."""
    if observed.is_uncountable:
        return
    actions = (one for one in observed.records.values() if one.task["type"] in ("action", "enrich"))
    runs = [run for record in actions for run in record.runs if _has_result(run)]
    failures = sum(run["category"] is not None for run in runs)
    counted = sum(one["runs"] for one in observed.stats["by_provider"])
    counted_failures = sum(one["failures"] for one in observed.stats["by_provider"])
    is_same = (counted, counted_failures) == (len(runs), failures)
    text = f"/stats counts {counted} calls, {counted_failures} failed"
    yield None if is_same else f"{text}; the runs {len(runs)}, {failures} failed"


def lateness_recounted(observed: Observed) -> Iterator[str | None]:
    """Every success is counted once, except after a verification, which is due at no time."""
    if observed.is_uncountable:
        return
    successes = [
        bool(record.task["verify"])
        for record in observed.records.values()
        for run in record.runs
        if run["status"] == "committed"
    ]
    least, most = successes.count(False), len(successes)
    counted = observed.stats["lateness"]["count"]
    text = f"/stats counts {counted} successes, the runs {least} to {most}"
    yield None if least <= counted <= most else text


def _has_result(run: Json) -> bool:
    return run["status"] == "committed" or run["category"] is not None


def history_in_order(observed: Observed) -> Iterator[str | None]:
    """The history is ordered by the clocks that its events were told by."""
    for record in observed.records.values():
        times = [from_text(event["at"]) for event in record.history]
        is_first = bool(record.history) and record.history[0]["type"] == EventType.TASK_CREATED
        is_ordered = all(one <= other + observed.max_skew for one, other in pairwise(times))
        yield None if is_first and is_ordered else f"task {record.name}: history {times}"


def history_names_runs(observed: Observed) -> Iterator[str | None]:
    """Every run that was ever committed to the table is in the history and in the list of runs."""
    removed = {change.task_id for change in observed.changes if change.new is None}
    for task_id, record in observed.records.items():
        if task_id in removed:
            continue  # it was deleted, and created again by a repeated request
        expected = sorted(_run_ids(observed, task_id))
        starts = (event for event in record.history if event["type"] == EventType.TASK_STARTED)
        started = sorted(event["detail"]["run_id"] for event in starts)
        listed = sorted(run["id"] for run in record.runs)
        text = f"task {record.name} ran {expected}, its history has {started}, its runs {listed}"
        yield None if started == listed == expected else text


def _run_ids(observed: Observed, task_id: str) -> set[str]:
    return {
        change.new.run.id
        for change in observed.changes
        if change.task_id == task_id and change.new is not None and change.new.run is not None
    }


def history_ends_like_task(observed: Observed) -> Iterator[str | None]:
    """The history ends with the end. The journal skips a change that it cannot read."""
    for task_id, record in observed.records.items():
        if task_id in observed.newer_ids:
            continue
        status = record.task["status"]
        ends = _list_last(record.history, observed.max_skew)
        if status in LAST_EVENT:
            is_same = LAST_EVENT[status] in ends
            yield None if is_same else f"task {record.name} is {status}, its history ends {ends}"


def _list_last(history: Sequence[Json], max_skew: timedelta) -> set[str]:
    """Return the end, or several if their clocks do not tell which one was last."""
    ends = [event for event in history if event["type"] in _ENDS]
    first = from_text(ends[-1]["at"]) - max_skew if max_skew and ends else None
    candidates = ends[-1:] if first is None else [e for e in ends if from_text(e["at"]) >= first]
    return {event["type"] for event in candidates}
