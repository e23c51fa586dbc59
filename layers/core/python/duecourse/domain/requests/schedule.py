"""When a task is to run: the schedule a caller asks for, and the timing that follows from it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any
from zoneinfo import ZoneInfo

from duecourse.domain.requests.task_fields import describe
from duecourse.domain.tasks.task import Task
from duecourse.domain.tasks.task_edit import Timing
from duecourse.domain.time.dst import to_instant
from duecourse.domain.time.duration import MAX_DURATION, parse_duration
from duecourse.domain.time.instant import truncate_to_millisecond
from duecourse.domain.time.recurrence import (
    MAX_RULE_LENGTH,
    RecurrenceError,
    RecurrenceRule,
    Series,
)
from duecourse.domain.time.timezones import load_timezone, to_wall_time
from duecourse.domain.validation.fields import FieldErrors, Fields, Schema

MAX_TIME_LENGTH = 64
SCHEDULE_SCHEMAS: Mapping[str, Schema] = {
    "due_at": describe(
        {"type": "string", "format": "time-of-task", "maxLength": MAX_TIME_LENGTH},
        "When the task runs first, such as 2026-02-17T15:00:00Z. A time without an offset is in "
        "the task's `timezone`. Give either `due_at` or `in`; a cron line needs neither.",
    ),
    "in": describe(
        {
            "anyOf": [
                {"type": "number", "minimum": 0, "maximum": MAX_DURATION.total_seconds()},
                {"type": "string", "format": "span-of-time"},
            ]
        },
        "The time from now, as a number of seconds or a duration such as 30s, 2h30m or 7d.",
    ),
    "repeat": describe(
        {"type": "string", "format": "repeat-rule", "maxLength": MAX_RULE_LENGTH},
        "`daily`, `weekly`, `monthly`, `weekdays`, a cron line of five fields, or an RRULE.",
    ),
    "timezone": describe(
        {"type": "string", "format": "iana-zone"},
        "An IANA time zone such as Europe/Berlin. Defaults to UTC.",
    ),
}
SCHEDULE_FIELDS = frozenset(SCHEDULE_SCHEMAS)
_TIME_PATTERN = re.compile(r"[T ]\d{2}")
_NOT_A_TIME = "must be a time such as 2026-02-17T15:00:00Z"


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """When a caller wants the task to run.

    `due_at`: an instant, or without tzinfo a wall-clock time in `timezone`. `delay`: how long from
    now, instead of `due_at`. A cron line in `repeat` needs neither.
    """

    due_at: datetime | None = None
    delay: timedelta | None = None
    timezone: str = "UTC"
    repeat: str | None = None


def parse_schedule(fields: Fields, *, current: Task | None = None) -> Schedule:
    """Read the schedule from JSON. In an edit, missing fields keep the value of `current`."""
    current_repeat = current.repeat if current and not fields.has_key("repeat") else None
    return Schedule(
        due_at=fields.read("due_at", _parse_time, None),
        delay=fields.read("in", parse_duration, None),
        timezone=fields.read("timezone", _parse_timezone, current.timezone if current else "UTC"),
        repeat=fields.read("repeat", _parse_repeat, current_repeat),
    )


def resolve_timing(
    schedule: Schedule, errors: FieldErrors, *, current: Task | None = None, now: datetime
) -> Timing:
    """Return the first run and the recurrence. A schedule that is invalid adds to `errors`.

    `current` is the task that is edited: without a new time, it keeps its own.
    """
    zone = errors.check("timezone", load_timezone, schedule.timezone, ZoneInfo("UTC"))
    repeat = errors.check("repeat", RecurrenceRule.parse, schedule.repeat, None)
    start = _resolve_start(schedule, errors, current=current, zone=zone, repeat=repeat, now=now)
    if start is None:
        return Timing(now, now.replace(tzinfo=None), None, zone.key)
    anchor, due_at = start
    if repeat is None:
        return Timing(due_at, anchor, None, zone.key)
    first = Series(repeat, anchor, zone).first_from(max(due_at, now))
    if first is None:
        errors.add("repeat", "has no occurrence from that time on")
    return Timing(first or due_at, anchor, repeat.text, zone.key)


def _resolve_start(
    schedule: Schedule,
    errors: FieldErrors,
    *,
    current: Task | None,
    zone: ZoneInfo,
    repeat: RecurrenceRule | None,
    now: datetime,
) -> tuple[datetime, datetime] | None:
    """Return the first time as wall clock and as instant, or None after a refused field."""
    if schedule.due_at is not None and schedule.delay is not None:
        errors.add("in", "give either due_at or in, not both")
    if "due_at" in errors or "in" in errors:
        return None
    if schedule.delay is not None:
        due_at = now + schedule.delay
        return errors.check("in", partial(_start_at, zone=zone, now=now), due_at, None)
    if schedule.due_at is not None:
        return errors.check("due_at", partial(_start_at, zone=zone, now=now), schedule.due_at, None)
    if repeat is not None and repeat.is_cron:  # a cron line defines its own times
        return to_wall_time(now, zone), now
    if current is not None:
        return _current_start(current, zone=zone, repeat=repeat)
    errors.add("due_at", "is required: give due_at or in")
    return None


def _start_at(time: datetime, *, zone: ZoneInfo, now: datetime) -> tuple[datetime, datetime]:
    wall_time, instant = _to_wall_time_and_instant(truncate_to_millisecond(time), zone)
    if instant < now:
        raise ValueError("is in the past")
    if instant - now > MAX_DURATION:
        raise ValueError("must be within 100 years")
    return wall_time, instant


def _to_wall_time_and_instant(time: datetime, zone: ZoneInfo) -> tuple[datetime, datetime]:
    try:
        if time.tzinfo is None:
            return time, to_instant(time, zone)
        return to_wall_time(time, zone), time.astimezone(UTC)
    except OverflowError:  # the first and the last day that a datetime can hold
        raise ValueError(_NOT_A_TIME) from None


def _current_start(
    current: Task, *, zone: ZoneInfo, repeat: RecurrenceRule | None
) -> tuple[datetime, datetime]:
    """Return anchor and next run for an edit that names no time.

    The next occurrence keeps its wall-clock time, in the new zone if the zone changes. The anchor
    stays as long as the rule does: a monthly series on the 31st must not become one on the 28th
    because it was edited in February.
    """
    wall_time = _scheduled_wall_time(current)
    is_same_rule = repeat is not None and repeat.text == current.repeat
    anchor = current.anchor if is_same_rule else datetime.combine(wall_time, current.anchor.time())
    is_same_zone = zone.key == current.timezone
    return anchor, current.nominal_at if is_same_zone else to_instant(wall_time, zone)


def _scheduled_wall_time(task: Task) -> datetime:
    """Return the wall-clock time the task was scheduled for, even if a DST change moved it."""
    zone = load_timezone(task.timezone)
    wall_time = to_wall_time(task.nominal_at, zone)
    scheduled = datetime.combine(wall_time, task.anchor.time())
    return scheduled if to_instant(scheduled, zone) == task.nominal_at else wall_time


def _parse_time(value: Any) -> datetime:
    if (
        not isinstance(value, str)
        or len(value) > MAX_TIME_LENGTH
        or not _TIME_PATTERN.search(value)
    ):
        raise ValueError(_NOT_A_TIME)
    try:
        return datetime.fromisoformat(value.strip())
    except ValueError:
        raise ValueError(_NOT_A_TIME) from None


def _parse_timezone(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("must be an IANA zone such as Europe/Berlin")
    return value


def _parse_repeat(value: Any) -> str | None:
    if not isinstance(value, str):
        raise RecurrenceError("must be daily, weekly, monthly, weekdays, a cron line or an RRULE")
    return None if value == "once" else value
