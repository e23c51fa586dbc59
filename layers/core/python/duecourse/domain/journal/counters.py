"""What is counted of the runs that ended: increments, as data. Adding them up is a store's affair.

Counters of a day, in the order they are stored: `after_retries`, `category#<name>`, `lateness`,
`pattern#<category>#<pattern>`, `provider#<name>`. How many there are does not depend on how much
ran; only providers are named by callers, so they come last, where a reader may stop.

Categories and `lateness` also count by the hour of UTC, for alerts: `h7` is what failed, or
succeeded, from seven o'clock on, and `l7` how much of the latter was late. Every batch writes
these items: all names are so short that they stay below a write unit (hours: 0 to 9, a to n).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from duecourse.domain.journal.error_log import LoggedError, provider_of
from duecourse.domain.journal.failure_tracker import BUDGET_EXCEEDED, day_of
from duecourse.domain.journal.lateness import bucket_of
from duecourse.domain.tasks.run import Run, RunStatus
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.domain.time.instant import to_text

T = TypeVar("T")
AFTER_RETRIES = "after_retries"
CATEGORY = "category#"
LATENESS = "lateness"
PATTERN = "pattern#"
PROVIDER = "provider#"
BUCKET = "b"
IN_HOUR = "h"
LATE_IN_HOUR = "l"
RETRIES = "r"
MOST_RETRIES = 50  # more than these are counted as these
NAME_LIMIT = 200
_HOURS = "0123456789abcdefghijklmn"


@dataclass(frozen=True, slots=True)
class Increment:
    """Added to one counter of one day.

    `add` sums up, `most` keeps the largest, `first` the text that came first, `last` the latest.
    """

    day: str
    counter: str
    add: Mapping[str, int]
    most: Mapping[str, int] = field(default_factory=dict)
    first: Mapping[str, str] = field(default_factory=dict)
    last: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class FirstFailure:
    """What an occurrence failed of first, and when: its recovery is counted there."""

    day: str
    category: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Recovery:
    """A run that succeeded where one before it had failed. `occurrence` is all attempts' own."""

    task_id: str
    run_id: str
    occurrence: str
    at: datetime
    retry_count: int
    provider: str | None


def of_failure(error: LoggedError, run: Run, *, is_newly_blocked: bool) -> list[Increment]:
    day, seen = day_of(error.at), to_text(error.at)
    first, last = {"first_seen": seen}, {"last_seen": seen}
    errors = {"errors": 1, "retries": error.retry_count}
    if error.attempt == 1:
        errors["failures"] = 1
    if is_newly_blocked:
        errors["blocked"] = 1
    if error.counted and error.category != BUDGET_EXCEEDED:  # to wait is no failure
        errors[IN_HOUR + hour_digit(error.at)] = 1
    found = [Increment(day, _category(error.category), errors, first=first, last=last)]
    if error.pattern:
        name = f"{PATTERN}{error.category[:NAME_LIMIT]}#{error.pattern[:NAME_LIMIT]}"
        found.append(Increment(day, name, {"errors": 1}, last=last))
    if error.provider:
        ran = {**_took(run), "failures": 1}
        found.append(Increment(day, PROVIDER + error.provider, ran))
    return found


def recovery_of(old: Task | None, new: Task, run: Run) -> Recovery | None:
    was_only_verified = run.is_verified and (old or new).retry_count == 0
    if run.status is not RunStatus.COMMITTED or run.attempt == 1 or was_only_verified:
        return None
    return Recovery(
        task_id=new.id,
        run_id=run.id,
        occurrence=run.mutation.key,
        at=run.ended_at or run.started_at,
        # A series has gone on to its next occurrence, and counts anew.
        retry_count=(old or new).retry_count,
        provider=provider_of(new),
    )


def of_recovery(recovery: Recovery, first: FirstFailure | None) -> list[Increment]:
    """Told on the day it succeeded, but for the rate: that asks what became of a failure."""
    day = day_of(recovery.at)
    retries = {"runs": 1, "retries": recovery.retry_count}
    retries[f"{RETRIES}{min(recovery.retry_count, MOST_RETRIES)}"] = 1
    found = [Increment(day, AFTER_RETRIES, retries)]
    if first is not None:
        found.append(Increment(first.day, _category(first.category), {"recovered": 1}))
    if recovery.provider:
        found.append(Increment(day, PROVIDER + recovery.provider, {"recovered": 1}))
    return found


def of_success(
    old: Task | None, new: Task, run: Run | None, *, late_after: timedelta
) -> list[Increment]:
    """How late it was, and what its provider took. Nothing of a run that did not succeed."""
    if run is None or run.status is not RunStatus.COMMITTED:
        return []
    found = [_lateness(old, new, run, late_after)]
    if provider := provider_of(new):
        day = day_of(run.ended_at or run.started_at)
        found.append(Increment(day, PROVIDER + provider, _took(run)))
    return found


def hour_digit(instant: datetime) -> str:
    """The hour of UTC's day, as one character."""
    return _HOURS[instant.astimezone(UTC).hour]


def merged(increments: Iterable[Increment]) -> list[Increment]:
    """One for each counter, whatever order they came in."""
    found: dict[tuple[str, str], Increment] = {}
    for one in increments:
        key = (one.day, one.counter)
        found[key] = _sum(found[key], one) if key in found else one
    return list(found.values())


def _lateness(old: Task | None, new: Task, run: Run, late_after: timedelta) -> Increment:
    """A retry has a time of its own. What makes up for a crash was due before."""
    ended_at = run.ended_at or run.started_at
    day, hour = day_of(ended_at), hour_digit(ended_at)
    runs = {IN_HOUR + hour: 1}
    if old is not None and old.status is Status.PENDING_VERIFICATION:  # a verdict is never late
        return Increment(day, LATENESS, runs)
    late = _milliseconds(ended_at - (run.late_since or (old or new).due_at))
    runs |= {"runs": 1, f"{BUCKET}{bucket_of(late)}": 1}
    if late > _milliseconds(late_after):
        runs[LATE_IN_HOUR + hour] = 1
    return Increment(day, LATENESS, runs, {"max": late})


def _sum(one: Increment, other: Increment) -> Increment:
    return Increment(
        one.day,
        one.counter,
        add={**one.add, **{name: n + one.add.get(name, 0) for name, n in other.add.items()}},
        most=_chosen(max, one.most, other.most),
        first=_chosen(min, one.first, other.first),
        last=_chosen(max, one.last, other.last),
    )


def _chosen(
    choose: Callable[[T, T], T], one: Mapping[str, T], other: Mapping[str, T]
) -> Mapping[str, T]:
    return {**one, **{name: choose(one.get(name, held), held) for name, held in other.items()}}


def _category(name: str) -> str:
    return CATEGORY + name[:NAME_LIMIT]


def _took(run: Run) -> dict[str, int]:
    """When a worker vanished nobody saw: such a run has no duration."""
    if run.status is RunStatus.CRASHED or run.ended_at is None:
        return {"runs": 1}
    return {"runs": 1, "timed": 1, "ms": _milliseconds(run.ended_at - run.started_at)}


def _milliseconds(duration: timedelta) -> int:
    return max(0, duration // timedelta(milliseconds=1))
