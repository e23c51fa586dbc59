"""Invariants of what is learned from failures: patterns and subjects equal a recount."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from duecourse.domain.origin import Origin
from duecourse.domain.tasks.event import EventType
from duecourse.domain.tasks.run import RunStatus
from duecourse.domain.tasks.status import Status

from local.simulate.observed import Observed, changes_of_tasks
from local.simulate.task_records import TaskRecord

# What is learned from the first reading of a failure stays after these.
CORRECTING = frozenset(
    {EventType.TASK_RECLASSIFIED, EventType.TASK_CORRECTED, EventType.TASK_RESOLVED}
)
_NOT_OF_SUBJECT = (Origin.LOGIC, Origin.UNVERIFIED, Origin.SUBJECT)
_SUCCESSES = (Status.DELIVERED, Status.COMPLETED)


def is_corrected(record: TaskRecord) -> bool:
    return any(event["type"] in CORRECTING for event in record.history)


@dataclass
class _Recount:
    """Counts by policy and fingerprint."""

    seen: Counter[tuple[str, str]] = field(default_factory=Counter)
    tried: Counter[tuple[str, str]] = field(default_factory=Counter)
    worked: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(self, record: TaskRecord) -> None:
        errors = {entry["id"]: entry for entry in record.errors}
        for entry in record.errors:
            if entry["fingerprint"]:
                self.seen[entry["policy"], entry["fingerprint"]] += 1
        for run in record.runs:
            before, own = errors.get(run["retry_of"] or ""), errors.get(run["id"])
            has_worked = run["status"] == "committed"
            is_attempt = has_worked or (own is not None and own["counted"])
            if before and before["counted"] and before["fingerprint"] and is_attempt:
                key = before["policy"], before["fingerprint"]
                self.tried[key] += 1
                self.worked[key] += has_worked


def patterns_recounted(observed: Observed) -> Iterator[str | None]:
    """`/patterns` counts the failures of the error log, and the retries after them.

    Of a task whose runs were corrected, what was learned from the first reading may stay.
    """
    if observed.is_uncountable or observed.derived.patterns is None:
        return
    recount, spare = _Recount(), 0
    for record in observed.records.values():
        if is_corrected(record):
            spare += len(record.runs)
        else:
            recount.add(record)
    listed = {(one["policy"], one["fingerprint"]): one for one in observed.derived.patterns}
    for key in sorted({*listed, *recount.seen}):
        expected = recount.seen[key], recount.tried[key], recount.worked[key]
        one = listed.get(key, {"count": 0, "tried": 0, "worked": 0})
        counted = one["count"], one["tried"], one["worked"]
        is_right = all(0 <= n - least <= spare for n, least in zip(counted, expected, strict=True))
        yield None if is_right else f"pattern {key} has {counted}, the runs {expected}"


def subject_errors_recounted(observed: Observed) -> Iterator[str | None]:
    """A subject has the errors of its tasks, and `/errors?subject=` lists the same ones."""
    if observed.is_uncountable:
        return
    logged: defaultdict[str, list[str]] = defaultdict(list)
    for record in observed.records.values():
        for entry in record.errors:
            logged[entry["subject"] or ""].append(entry["id"])
    for name, subject in observed.derived.subjects.items():
        count = sum(subject.recent_errors.by_day.values())
        is_same = count == len(logged[name])
        yield None if is_same else f"subject {name} has {count} errors, the log {logged[name]}"
        listed = list(observed.derived.errors_by_subject[name])
        is_same = listed == sorted(logged[name])
        yield None if is_same else f"subject {name} lists {listed}, the log has {logged[name]}"


def subject_failures_recounted(observed: Observed) -> Iterator[str | None]:
    """`failure_count` is the number of failures that the subject is blamed for since a success.

    Not if somebody reset it or corrected a failure: then the time decides what still counts.
    """
    for name, subject in observed.derived.subjects.items():
        writes = [one for one in changes_of_tasks(observed) if one[1].subject == name]
        count = _count_failures(observed, writes)
        if count is not None and not _is_reset(observed, name):
            text = f"subject {name} counts {subject.failure_count} failures, the runs {count}"
            yield None if subject.failure_count == count else text


def _count_failures(observed: Observed, writes: Sequence[tuple[Any, Any]]) -> int | None:
    count = 0
    for old, new in writes:
        has_ended = old.run is not None and old.run.ended_at is None and new.run.ended_at
        if has_ended and new.run.status is RunStatus.COMMITTED:
            count = 0
        elif has_ended:
            count += _is_blamed(observed, new)
        elif old.run != new.run and new.run.ended_at is not None:
            return None  # corrected
        elif new.status in _SUCCESSES and old.status is not new.status:
            return None  # a person says that it is done
    return count


def _is_blamed(observed: Observed, task: Any) -> bool:
    note, policies = task.run.diagnosis, observed.derived.policies
    if note is None or not task.run.is_failure:
        return False
    policy = policies.get(task.policy) or policies["omega"]
    is_of_subject = note.counted and note.blames_subject and note.origin not in _NOT_OF_SUBJECT
    return bool(is_of_subject and policy.categories[task.run.category].counts)


def _is_reset(observed: Observed, name: str) -> bool:
    return any(one.target == f"/subjects/{name}/reset" for one in observed.answers)
