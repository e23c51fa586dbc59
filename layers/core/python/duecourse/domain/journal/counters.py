"""Daily counters of ended runs, as increments for a store to add up.

Counters of a day, in the order they are stored: `after_retries`, `category#<name>`, `lateness`,
`pattern#<category>#<pattern>`, `provider#<name>`. Their number does not grow with the number of
runs. Only provider names come from callers, so they sort last, where a reader may stop.

Categories and `lateness` also count by UTC hour, for alerts: `h7` counts the runs that failed (or
succeeded, in `lateness`) from 7:00 to 8:00, `l7` the late ones among those that succeeded. Names
are short because every batch writes these items: each must stay below one write unit. Hours are
written 0 to 9, then a to n.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from duecourse.domain.journal.error_log import LoggedError, provider_name
from duecourse.domain.journal.failure_tracker import BUDGET_EXCEEDED, utc_day
from duecourse.domain.journal.lateness import bucket_of
from duecourse.domain.tasks.run import Run, RunStatus
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.domain.time.instant import to_text

T = TypeVar("T")
AFTER_RETRIES_COUNTER = "after_retries"
CATEGORY_PREFIX = "category#"
LATENESS_COUNTER = "lateness"
PATTERN_PREFIX = "pattern#"
PROVIDER_PREFIX = "provider#"
BUCKET_PREFIX = "b"
HOUR_PREFIX = "h"
LATE_HOUR_PREFIX = "l"
RETRIES_PREFIX = "r"
MAX_RETRIES_COUNTED = 50  # higher counts are capped to this
NAME_LIMIT = 200
_HOUR_DIGITS = "0123456789abcdefghijklmn"


@dataclass(frozen=True, slots=True)
class Increment:
    """A change to one counter of one day.

    `sums` are added; `maximums` keep the largest value, `earliest` the smallest text and `latest`
    the largest text.
    """

    day: str
    counter: str
    sums: Mapping[str, int]
    maximums: Mapping[str, int] = field(default_factory=dict)
    earliest: Mapping[str, str] = field(default_factory=dict)
    latest: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class FirstFailure:
    """The first failure of an occurrence. A recovery is counted on its day and in its category."""

    day: str
    category: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Recovery:
    """A run that succeeded after an earlier attempt at the same occurrence failed.

    All attempts at an occurrence share `occurrence_key`.
    """

    task_id: str
    run_id: str
    occurrence_key: str
    recovered_at: datetime
    retry_count: int
    provider: str | None


def failure_increments(error: LoggedError, run: Run, *, is_newly_blocked: bool) -> list[Increment]:
    day, seen = utc_day(error.at), to_text(error.at)
    first, last = {"first_seen": seen}, {"last_seen": seen}
    errors = {"errors": 1, "retries": error.retry_count}
    if error.attempt == 1:
        errors["failures"] = 1
    if is_newly_blocked:
        errors["blocked"] = 1
    if error.counted and error.category != BUDGET_EXCEEDED:  # waiting for a budget is no failure
        errors[HOUR_PREFIX + hour_digit(error.at)] = 1
    found = [Increment(day, _category_counter(error.category), errors, earliest=first, latest=last)]
    if error.pattern:
        name = f"{PATTERN_PREFIX}{error.category[:NAME_LIMIT]}#{error.pattern[:NAME_LIMIT]}"
        found.append(Increment(day, name, {"errors": 1}, latest=last))
    if error.provider:
        counts = {**_run_counts(run), "failures": 1}
        found.append(Increment(day, PROVIDER_PREFIX + error.provider, counts))
    return found


def find_recovery(old: Task | None, new: Task, run: Run) -> Recovery | None:
    was_only_verified = run.is_verified and (old or new).retry_count == 0
    if run.status is not RunStatus.COMMITTED or run.attempt == 1 or was_only_verified:
        return None
    return Recovery(
        task_id=new.id,
        run_id=run.id,
        occurrence_key=run.mutation.idempotency_key,
        recovered_at=run.ended_at or run.started_at,
        # `new` may be at the next occurrence of its series, with `retry_count` reset.
        retry_count=(old or new).retry_count,
        provider=provider_name(new),
    )


def recovery_increments(recovery: Recovery, first_failure: FirstFailure | None) -> list[Increment]:
    """Return the increments of a recovery.

    It counts on the day it succeeded, except for the category's recovery rate, which counts on the
    day of the first failure.
    """
    day = utc_day(recovery.recovered_at)
    retries = {"runs": 1, "retries": recovery.retry_count}
    retries[f"{RETRIES_PREFIX}{min(recovery.retry_count, MAX_RETRIES_COUNTED)}"] = 1
    found = [Increment(day, AFTER_RETRIES_COUNTER, retries)]
    if first_failure is not None:
        found.append(
            Increment(
                first_failure.day, _category_counter(first_failure.category), {"recovered": 1}
            )
        )
    if recovery.provider:
        found.append(Increment(day, PROVIDER_PREFIX + recovery.provider, {"recovered": 1}))
    return found


def success_increments(
    old: Task | None, new: Task, run: Run | None, *, late_after: timedelta
) -> list[Increment]:
    """Return lateness and provider increments, or nothing if the run did not succeed."""
    if run is None or run.status is not RunStatus.COMMITTED:
        return []
    found = [_lateness_increment(old, new, run, late_after)]
    if provider := provider_name(new):
        day = utc_day(run.ended_at or run.started_at)
        found.append(Increment(day, PROVIDER_PREFIX + provider, _run_counts(run)))
    return found


def hour_digit(instant: datetime) -> str:
    """Return the UTC hour as one character."""
    return _HOUR_DIGITS[instant.astimezone(UTC).hour]


def merge_increments(increments: Iterable[Increment]) -> list[Increment]:
    """Return one increment per counter and day. The order of `increments` does not matter."""
    found: dict[tuple[str, str], Increment] = {}
    for one in increments:
        key = (one.day, one.counter)
        found[key] = _add_increments(found[key], one) if key in found else one
    return list(found.values())


def _lateness_increment(old: Task | None, new: Task, run: Run, late_after: timedelta) -> Increment:
    """Return how late the run ended after the task's `due_at`.

    A retry is measured against its own due time, a recovery from a crash against the original one.
    """
    ended_at = run.ended_at or run.started_at
    day, hour = utc_day(ended_at), hour_digit(ended_at)
    runs = {HOUR_PREFIX + hour: 1}
    # Verification has no due time that it could miss.
    if old is not None and old.status is Status.PENDING_VERIFICATION:
        return Increment(day, LATENESS_COUNTER, runs)
    late = _to_milliseconds(ended_at - (run.originally_due_at or (old or new).due_at))
    runs |= {"runs": 1, f"{BUCKET_PREFIX}{bucket_of(late)}": 1}
    if late > _to_milliseconds(late_after):
        runs[LATE_HOUR_PREFIX + hour] = 1
    return Increment(day, LATENESS_COUNTER, runs, {"max": late})


def _add_increments(one: Increment, other: Increment) -> Increment:
    return Increment(
        one.day,
        one.counter,
        sums={**one.sums, **{name: n + one.sums.get(name, 0) for name, n in other.sums.items()}},
        maximums=_merge_values(max, one.maximums, other.maximums),
        earliest=_merge_values(min, one.earliest, other.earliest),
        latest=_merge_values(max, one.latest, other.latest),
    )


def _merge_values(
    choose: Callable[[T, T], T], one: Mapping[str, T], other: Mapping[str, T]
) -> Mapping[str, T]:
    return {**one, **{name: choose(one.get(name, held), held) for name, held in other.items()}}


def _category_counter(name: str) -> str:
    return CATEGORY_PREFIX + name[:NAME_LIMIT]


def _run_counts(run: Run) -> dict[str, int]:
    """Return run count and duration. A crashed run has no known duration."""
    if run.status is RunStatus.CRASHED or run.ended_at is None:
        return {"runs": 1}
    return {"runs": 1, "timed": 1, "ms": _to_milliseconds(run.ended_at - run.started_at)}


def _to_milliseconds(duration: timedelta) -> int:
    return max(0, duration // timedelta(milliseconds=1))
