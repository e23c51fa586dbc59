"""Which runs tasks have, and when: not before their time, and with one effect."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from local.simulate.observed import Observed

_RESCHEDULING = ("pause", "resume", "run", "retry", "resolve", "snooze")


def requests_not_repeated(observed: Observed) -> Iterator[str | None]:
    """A request that is repeated with its key creates one task. Each has its own description."""
    first: dict[str, Any] = {}
    for change in observed.changes:
        if change.new is not None and change.new.snooze_of is None:
            first.setdefault(change.new.id, change.new)
    for description, count in Counter(one.description for one in first.values()).items():
        yield None if count == 1 else f"{count} tasks are called {description!r}"


def runs_not_early(observed: Observed) -> Iterator[str | None]:
    """No run starts before its occurrence, unless somebody asked for another time."""
    rescheduled = list_rescheduled(observed)
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
    rescheduled = list_rescheduled(observed)
    for task_id, record in observed.records.items():
        runs = () if task_id in rescheduled else record.runs
        done = [run["nominal_at"] for run in runs if run["status"] == "committed"]
        for at, count in Counter(done).items():
            yield None if count == 1 else f"task {record.name}: {count} runs for {at} succeeded"


def _runs_of(observed: Observed, task_id: str) -> Sequence[dict[str, Any]]:
    record = observed.records.get(task_id)
    return record.runs if record else ()


def list_rescheduled(observed: Observed) -> set[str]:
    """Return the tasks whose time somebody may have changed, over HTTP or in chat."""
    short_ids = {text.split(" ")[1] for text in observed.said_texts if text.count(" ")}
    by_chat = {one for one in observed.records if one[:8] in short_ids}
    return by_chat | {one.target.split("/")[2] for one in observed.answers if _is_rescheduling(one)}


def _is_rescheduling(answer: Any) -> bool:
    parts = answer.target.split("/")
    is_action = len(parts) == 4 and parts[1] == "tasks" and parts[3] in _RESCHEDULING
    return is_action or (answer.method == "PATCH" and len(parts) == 3)
