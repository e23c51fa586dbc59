"""Which runs tasks have, and when: not before their time, and every occurrence in reach."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

from duecourse.domain.time.instant import from_text

from local.simulate.observed import Observed

_PERIODS = {
    "every minute": timedelta(minutes=1),
    "*/2 * * * *": timedelta(minutes=2),
    "FREQ=MINUTELY;INTERVAL=3": timedelta(minutes=3),
}
_RESCHEDULING = ("pause", "resume", "run", "retry", "resolve", "snooze")


def requests_not_repeated(observed: Observed) -> Iterator[str | None]:
    """A request that is repeated with its key creates one task. Each has its own description."""
    originals = [one.task for one in observed.records.values() if one.task["snooze_of"] is None]
    for description, count in Counter(one["description"] for one in originals).items():
        yield None if count == 1 else f"{count} tasks are called {description!r}"


def runs_not_early(observed: Observed) -> Iterator[str | None]:
    """No run starts before its occurrence, unless somebody asked for another time."""
    rescheduled = _list_rescheduled(observed)
    for one in observed.created.values():
        for run in () if one.id in rescheduled else _runs_of(observed, one.id):
            is_early = run["started_at"] < run["nominal_at"]
            text = f"task {one.number}: run at {run['started_at']}, due {run['nominal_at']}"
            yield text if is_early else None


def keys_kept(observed: Observed) -> Iterator[str | None]:
    """All attempts at one occurrence have one idempotency key. Only rejected work has another."""
    for one in observed.created.values():
        runs = {run["id"]: run for run in _runs_of(observed, one.id)}
        for run in runs.values():
            previous = runs.get(run["retry_of"] or "")
            if previous is not None and not one.request.get("verify"):
                is_same = run["mutation"]["key"] == previous["mutation"]["key"]
                yield None if is_same else f"task {one.number}: attempt {run['attempt']} has a key"


def effects_recorded(observed: Observed) -> Iterator[str | None]:
    """Every effect belongs to a run that is recorded. Notifications have a colon in their key."""
    if observed.deleted or observed.forgotten:
        return  # their runs are gone
    known = {run["mutation"]["key"] for one in observed.records.values() for run in one.runs}
    for key in observed.effects:
        if key and ":" not in key:
            yield None if key in known else f"no run has the key {key} of an effect"


def commits_applied(observed: Observed) -> Iterator[str | None]:
    for record in observed.records.values():
        for run in record.runs:
            status = run["mutation"]["status"]
            is_right = run["status"] != "committed" or status == "applied"
            yield None if is_right else f"task {record.name}: a committed run is {status}"


def occurrences_once(observed: Observed) -> Iterator[str | None]:
    """An occurrence succeeds once, unless somebody asked for another run."""
    rescheduled = _list_rescheduled(observed)
    for task_id, record in observed.records.items():
        runs = () if task_id in rescheduled else record.runs
        done = [run["nominal_at"] for run in runs if run["status"] == "committed"]
        for at, count in Counter(done).items():
            yield None if count == 1 else f"task {record.name}: {count} runs for {at} succeeded"


def occurrences_follow(observed: Observed) -> Iterator[str | None]:
    """A series goes on with the first occurrence after both the last one and the end of its run."""
    rescheduled = _list_rescheduled(observed)
    for one in observed.created.values():
        period = _PERIODS.get(one.request.get("repeat", ""))
        if period is None or one.id in rescheduled:
            continue
        occurrences = _list_occurrences(_runs_of(observed, one.id))
        for (at, ended_at), (following, _) in pairwise(occurrences):
            expected = _next_after(at, max(at, ended_at), period)
            is_right = following == expected
            yield None if is_right else f"task {one.number}: {following} follows {at}"


def _runs_of(observed: Observed, task_id: str) -> Sequence[dict[str, Any]]:
    record = observed.records.get(task_id)
    return record.runs if record else ()


def _list_occurrences(runs: Sequence[dict[str, Any]]) -> list[tuple[datetime, datetime]]:
    """Return each occurrence that was run, with the end of its last run."""
    ends: defaultdict[datetime, list[datetime]] = defaultdict(list)
    for run in runs:
        ends[from_text(run["nominal_at"])].append(from_text(run["ended_at"] or run["started_at"]))
    return [(at, max(ended)) for at, ended in sorted(ends.items())]


def _next_after(occurrence: datetime, after: datetime, period: timedelta) -> datetime:
    return occurrence + ((after - occurrence) // period + 1) * period


def _list_rescheduled(observed: Observed) -> set[str]:
    """Return the tasks whose time somebody may have changed, over HTTP or in chat."""
    short_ids = {text.split(" ")[1] for text in observed.said_texts if text.count(" ")}
    by_chat = {one for one in observed.records if one[:8] in short_ids}
    return by_chat | {one.target.split("/")[2] for one in observed.answers if _is_rescheduling(one)}


def _is_rescheduling(answer: Any) -> bool:
    parts = answer.target.split("/")
    is_action = len(parts) == 4 and parts[1] == "tasks" and parts[3] in _RESCHEDULING
    return is_action or (answer.method == "PATCH" and len(parts) == 3)
