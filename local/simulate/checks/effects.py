"""Invariants of effects: as many as the runs admit, and none before its time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from duecourse.domain.tasks.event import EventType
from duecourse.domain.time.instant import from_text

from local.simulate.observed import Observed
from local.simulate.receiver import PUBLIC_ADDRESS
from local.simulate.task_records import Json, TaskRecord

# A mutation with one of these may have had its effect.
_ADMITTED = frozenset({"applied", "indeterminate", "in_flight"})
_UNKNOWN_RUNS = frozenset({"crashed", "paused:reconciliation"})  # before a person decided
_CALLING_PROVIDERS = frozenset({"action", "enrich"})
_EMITTING = frozenset({"lamp", "remote-lamp"})


def admitted(observed: Observed) -> Iterator[str | None]:
    """No effect beyond what the runs admit, and none missing where a run says it happened.

    Unless a person said so of an effect that was unknown: they may be wrong.
    """
    for task_id, record in observed.records.items():
        if record.task["type"] in _CALLING_PROVIDERS:
            continue  # a call of a provider is no effect: it may be repeated
        resolved = _list_resolved(record)
        if task_id in observed.newer_ids:  # the journal skips what it cannot read
            resolved |= {run["id"] for run in record.runs if run["status"] in _UNKNOWN_RUNS}
        by_key: defaultdict[str, list[Json]] = defaultdict(list)
        for run in record.runs:
            by_key[run["mutation"]["key"]].append(run)
        for key, runs in by_key.items():
            statuses = [run["mutation"]["status"] for run in runs]
            count = len(observed.effects.get(key, ()))
            limit = sum(_can_have_effect(run, resolved) for run in runs)
            is_missing = count == 0 and "applied" in statuses and not resolved
            is_right = count <= limit and not is_missing
            text = f"task {record.name}: {count} effects, the runs say {statuses}"
            yield None if is_right else text


def _list_resolved(record: TaskRecord) -> set[str]:
    """Return the runs of which a person said whether their effect had happened."""
    resolved = (event for event in record.history if event["type"] == EventType.TASK_RESOLVED)
    return {event["detail"]["run_id"] for event in resolved}


def _can_have_effect(run: Json, resolved_ids: set[str]) -> bool:
    return run["mutation"]["status"] in _ADMITTED or run["id"] in resolved_ids


def emitted(observed: Observed) -> Iterator[str | None]:
    """The result of a committed run was told to others, and none whose effect is not known."""
    for record in observed.records.values():
        if record.task["type"] not in _EMITTING and not record.task["payload"].get("tell"):
            continue
        applied = {
            run["mutation"]["key"] for run in record.runs if run["mutation"]["status"] == "applied"
        }
        for run in record.runs:
            key, is_committed = run["mutation"]["key"], run["status"] == "committed"
            is_right = key in applied if key in observed.emitted else not is_committed
            text = f"task {record.name}: run {run['id'][:8]} is {run['status']}, told or not"
            yield None if is_right else text


def never_early(observed: Observed) -> Iterator[str | None]:
    """No effect comes before its run. A run says by its own clock when it started."""
    for record in observed.records.values():
        started: dict[str, str] = {}
        for run in record.runs:
            started.setdefault(run["mutation"]["key"], run["started_at"])
        for key, at in started.items():
            for effect in observed.effects.get(key, ()):
                text = f"task {record.name}: effect at {effect.at}, run at {at}"
                is_early = from_text(effect.at) < from_text(at) - observed.max_skew
                yield text if is_early else None


def none_to_private_address(observed: Observed) -> Iterator[str | None]:
    """A webhook is sent to the public address only, whatever its host resolves to."""
    for one in observed.received:
        is_public = one.address == PUBLIC_ADDRESS
        yield None if is_public else f"a request to {one.url} was sent to {one.address}"
