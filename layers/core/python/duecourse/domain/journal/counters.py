"""What one change of a task adds to the counters of a UTC day.

Counters of a day: `after_retries`, `category#<name>`, `lateness`, `pattern#<category>#<pattern>`
and `provider#<name>`. `learning_counters` adds those that learning needs.

Categories and `lateness` also count by UTC hour, for alerts: `h7` counts the runs that failed (or
succeeded, in `lateness`) from 7:00 to 8:00, `l7` the late ones among those that succeeded. Hours
are written 0 to 9, then a to n. Categories count their errors by kind, too: `k#network`. Names are
short because every batch of changes writes them.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from duecourse.domain.journal.error_log import provider_name
from duecourse.domain.journal.history import ended_run, is_amendment
from duecourse.domain.journal.increment import Increment
from duecourse.domain.journal.lateness import bucket_of
from duecourse.domain.journal.learning_counters import learning_increments
from duecourse.domain.lifecycle.correction import is_correction
from duecourse.domain.tasks.failure_kind import Kind
from duecourse.domain.tasks.recent_errors import BUDGET_EXCEEDED
from duecourse.domain.tasks.run import Run, RunStatus
from duecourse.domain.tasks.run_diagnosis import NOT_DIAGNOSED
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.domain.time.instant import to_text
from duecourse.domain.time.utc_days import utc_day

AFTER_RETRIES_COUNTER = "after_retries"
CATEGORY_PREFIX = "category#"
LATENESS_COUNTER = "lateness"
PATTERN_PREFIX = "pattern#"
PROVIDER_PREFIX = "provider#"
BUCKET_PREFIX = "b"
HOUR_PREFIX = "h"
KIND_PREFIX = "k#"
LATE_HOUR_PREFIX = "l"
RETRIES_PREFIX = "r"
MAX_RETRIES_COUNTED = 50  # higher counts are capped to this
NAME_LIMIT = 200
_DURATION = ("timed", "ms")
_HOUR_DIGITS = "0123456789abcdefghijklmn"


def count_change(old: Task | None, new: Task, *, late_after: timedelta) -> list[Increment]:
    """Return what the change from `old` to `new` adds to the counters."""
    run = ended_run(old, new)
    if run is None:
        return []
    if old is not None and is_correction(old, new):
        return _correction_increments(old, new, run, late_after)
    if old is not None and is_amendment(run, old):
        return _amendment_increments(old, new, run)
    learned = learning_increments(new, run)
    if run.is_failure:
        return [*_failure_increments(new, run), *learned]
    if run.status is not RunStatus.COMMITTED:
        return []
    return [
        *_success_increments(old, new, run, late_after),
        *_recovery_increments(old, new, run),
        *learned,
    ]


def is_recovery(old: Task | None, new: Task, run: Run) -> bool:
    """Return whether the run succeeded after an earlier attempt at the same occurrence failed."""
    was_only_verified = run.is_verified and (old or new).retry_count == 0
    return run.status is RunStatus.COMMITTED and run.attempt > 1 and not was_only_verified


def hour_digit(instant: datetime) -> str:
    """Return the UTC hour as one character."""
    return _HOUR_DIGITS[instant.astimezone(UTC).hour]


def _amendment_increments(old: Task, new: Task, run: Run) -> list[Increment]:
    """Return the increments that move a reclassified failure to its new category and kind."""
    before = old.run
    is_reclassified = before is not None and _classification(before) != _classification(run)
    if before is None or not (is_reclassified and before.is_failure and run.is_failure):
        return []
    taken_back = [one.negate() for one in _failure_increments(old, before)]
    return [*taken_back, *_failure_increments(new, run)]


def _classification(run: Run) -> tuple[str | None, Kind | None]:
    return run.category, (run.diagnosis or NOT_DIAGNOSED).kind


def _correction_increments(
    old: Task, new: Task, run: Run, late_after: timedelta
) -> list[Increment]:
    """Return the increments that replace a supposed crash by what the worker reported."""
    before = old.run
    if before is None or before.diagnosis == run.diagnosis:
        return []  # only its error was corrected
    supposed = [*_failure_increments(old, before), *learning_increments(old, before)]
    taken_back = [one.negate() for one in supposed]
    if run.is_failure:
        reported = [*_failure_increments(new, run), *learning_increments(new, run)]
        return [*taken_back, *map(_without_duration, reported)]
    note = before.diagnosis or NOT_DIAGNOSED
    restored = replace(old, retry_count=max(0, (note.retry_count or 0) - note.counted))
    done = replace(run, ended_at=new.delivered_at)  # `ended_at` is when the lease was noticed
    return [
        *taken_back,
        *_success_increments(restored, new, done, late_after),
        *_recovery_increments(restored, new, done),
        *learning_increments(new, done),
    ]


def _without_duration(one: Increment) -> Increment:
    """Return the increment without the duration of its run, which a late report does not tell."""
    if not one.counter.startswith(PROVIDER_PREFIX):
        return one
    return replace(one, sums={name: n for name, n in one.sums.items() if name not in _DURATION})


def _failure_increments(task: Task, run: Run) -> list[Increment]:
    note, at = run.diagnosis or NOT_DIAGNOSED, run.ended_or_started_at
    category, day, seen = run.error_category, utc_day(at), to_text(at)
    errors = {"errors": 1, "retries": note.retry_count or 0}
    if run.attempt == 1:
        errors["failures"] = 1
    kinds = {KIND_PREFIX + note.kind: 1} if note.kind else {}
    errors |= kinds
    if note.is_newly_blocked:
        errors["blocked"] = 1
    if note.counted and category != BUDGET_EXCEEDED:  # waiting for a budget is no failure
        errors[HOUR_PREFIX + hour_digit(at)] = 1
    first, last = {"first_seen": seen}, {"last_seen": seen}
    found = [Increment(day, _category_counter(category), errors, earliest=first, latest=last)]
    if note.pattern:
        name = f"{PATTERN_PREFIX}{category[:NAME_LIMIT]}#{note.pattern[:NAME_LIMIT]}"
        found.append(Increment(day, name, {"errors": 1, **kinds}, latest=last))
    if provider := provider_name(task):
        found.append(
            Increment(day, PROVIDER_PREFIX + provider, {**_run_counts(run), "failures": 1})
        )
    return found


def _recovery_increments(old: Task | None, new: Task, run: Run) -> list[Increment]:
    """Return the increments of a run that succeeded after an earlier attempt failed.

    It counts on the day it succeeded, except for the category's recovery rate, which counts on the
    day of the first failure.
    """
    if not is_recovery(old, new, run):
        return []
    # `new` may be at the next occurrence of its series, with `retry_count` reset.
    retry_count = (old or new).retry_count
    day = utc_day(run.ended_or_started_at)
    retries = {"runs": 1, "retries": retry_count}
    retries[f"{RETRIES_PREFIX}{min(retry_count, MAX_RETRIES_COUNTED)}"] = 1
    found = [Increment(day, AFTER_RETRIES_COUNTER, retries)]
    if (first := run.first_failure) is not None:
        found.append(Increment(first.day, _category_counter(first.category), {"recovered": 1}))
    if provider := provider_name(new):
        found.append(Increment(day, PROVIDER_PREFIX + provider, {"recovered": 1}))
    return found


def _success_increments(
    old: Task | None, new: Task, run: Run, late_after: timedelta
) -> list[Increment]:
    found = [_lateness_increment(old, new, run, late_after)]
    if provider := provider_name(new):
        day = utc_day(run.ended_or_started_at)
        found.append(Increment(day, PROVIDER_PREFIX + provider, _run_counts(run)))
    return found


def _lateness_increment(old: Task | None, new: Task, run: Run, late_after: timedelta) -> Increment:
    """Return how late the run ended after the task's `due_at`.

    A retry is measured against its own due time, a recovery from a crash against the original one.
    """
    ended_at = run.ended_or_started_at
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


def _category_counter(name: str) -> str:
    return CATEGORY_PREFIX + name[:NAME_LIMIT]


def _run_counts(run: Run) -> dict[str, int]:
    """Return run count and duration. A crashed run has no known duration."""
    if run.status is RunStatus.CRASHED or run.ended_at is None:
        return {"runs": 1}
    return {"runs": 1, "timed": 1, "ms": _to_milliseconds(run.ended_at - run.started_at)}


def _to_milliseconds(duration: timedelta) -> int:
    return max(0, duration // timedelta(milliseconds=1))
