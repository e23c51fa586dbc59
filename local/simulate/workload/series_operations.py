"""Operations that create series: every kind of rule, in zones with and without clock changes."""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Mapping
from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

from local.simulate.actor import Actor
from local.simulate.workload.create_operations import COVERS
from local.simulate.workload.follow_ups import AFTER_SERIES
from local.simulate.workload.operation_kind import Arguments, Draft, OperationKind, select
from local.simulate.workload.provider_scripts import SCRIPTS

_FAST = ("* * * * *", "*/2 * * * *", "FREQ=MINUTELY;INTERVAL=3", "FREQ=MINUTELY;COUNT=2")
_NAMED = ("daily", "weekly", "monthly", "weekdays")
_CRON = (
    *("30 2 * * *", "15,45 1-3 * * *", "0 9 * * 1-5", "15 2 * * 0", "0 12 31 * *"),
    *("0 8 1,15 * *", "0 10 1 * 1", "0 */6 * * *", "0 0 29 2 *"),
)
_RRULE = (
    *("FREQ=HOURLY;INTERVAL=6", "FREQ=DAILY;INTERVAL=2", "FREQ=DAILY;BYHOUR=2;BYMINUTE=30"),
    *("FREQ=WEEKLY;BYDAY=MO,WE,FR", "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU,SU", "FREQ=WEEKLY"),
    *("FREQ=MONTHLY;BYMONTHDAY=-1", "FREQ=MONTHLY;BYMONTHDAY=31", "FREQ=MONTHLY;BYDAY=-1SU"),
    *("FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1", "FREQ=MONTHLY;INTERVAL=2;BYDAY=1MO"),
    *("FREQ=YEARLY;BYMONTH=3,4,11;BYMONTHDAY=1", "FREQ=DAILY;COUNT=3", "FREQ=YEARLY"),
    *("FREQ=DAILY;UNTIL=20260330T000000Z", "FREQ=DAILY;UNTIL=20261026T235959"),
)
# The clocks of the first four change: by an hour, by half an hour, and at midnight.
ZONES = (
    *("Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Santiago"),
    *("Asia/Kolkata", "UTC"),
)
# Times that a change skips or doubles in one of the zones, or close to midnight.
_TIMES = (time(2, 30), time(1, 30), time(2), time(2, 10), time(3), time(0), time(23, 30))
# By the month and day of a start: a zone whose clock changes on the next day, and a time then that
# is skipped or doubled.
_CHANGES = {
    (3, 7): ("America/New_York", time(2, 30)),
    (3, 28): ("Europe/Berlin", time(2, 30)),
    (4, 4): ("Australia/Lord_Howe", time(1, 45)),
    (10, 3): ("Australia/Lord_Howe", time(2, 10)),
    (10, 24): ("Europe/Berlin", time(2, 30)),
    (10, 31): ("America/New_York", time(1, 30)),
}
_MIN_SECONDS, _MAX_SECONDS = 15, 60


def _draw_fast(draft: Draft) -> Arguments:
    return _draw(draft, draft.rng.choice(_FAST), draft.rng.choice(ZONES))


def draw_calendar(draft: Draft) -> Arguments:
    """Draw a series whose occurrences are hours to months apart."""
    repeat = draft.rng.choice(draft.rng.choice((_NAMED, _NAMED, _CRON, _RRULE)))
    change = _CHANGES.get((draft.starts_at.month, draft.starts_at.day))
    if change is not None and draft.rng.random() < 0.5:
        arguments = _draw(draft, repeat, change[0])
        day = datetime.fromisoformat(arguments["due_at"]).date() + timedelta(days=1)
        return {**arguments, "due_at": datetime.combine(day, change[1]).isoformat()}
    arguments = _draw(draft, repeat, draft.rng.choice(ZONES))
    if draft.rng.random() < 0.5:
        arguments["due_at"] = _draw_later(draft, arguments["due_at"])
    return arguments


def _draw_month_end(draft: Draft) -> Arguments:
    """Draw a monthly series that begins on the last day of the month."""
    arguments = _draw(draft, "monthly", draft.rng.choice(ZONES))
    first = datetime.fromisoformat(arguments["due_at"]).date()
    last = first.replace(day=monthrange(first.year, first.month)[1])
    return {**arguments, "due_at": datetime.combine(last, draft.rng.choice(_TIMES)).isoformat()}


def _draw(draft: Draft, repeat: str, zone: str) -> Arguments:
    arguments = {"new": draft.new_task(), "sender": draft.sender()}
    seconds = draft.at + draft.rng.randint(_MIN_SECONDS, _MAX_SECONDS)
    due_at = (draft.starts_at + timedelta(seconds=int(seconds))).astimezone(ZoneInfo(zone))
    kind = {"type": "action"} if draft.rng.random() < 0.2 else {}
    wall = due_at.replace(tzinfo=None).isoformat()
    return {**arguments, "due_at": wall, "timezone": zone, "repeat": repeat, **kind}


def _draw_later(draft: Draft, wall: str) -> str:
    """Draw a time of one of the next days. On a 31st it may be the end of each month."""
    later = datetime.fromisoformat(wall).date() + timedelta(days=draft.rng.randint(1, 3))
    return datetime.combine(later, draft.rng.choice(_TIMES)).isoformat()


def _run_series(actor: Actor, arguments: Arguments) -> None:
    fields = select(arguments, "due_at", "timezone", "repeat", "type")
    if "type" in fields:
        fields["payload"] = {"provider": "scripted", "script": SCRIPTS[0]}
    actor.create(arguments["new"], fields, sender=arguments["sender"])


SERIES_OPERATIONS: Mapping[str, OperationKind] = {
    "create-series": OperationKind(2, _draw_fast, _run_series, COVERS, AFTER_SERIES),
    "create-calendar": OperationKind(3, draw_calendar, _run_series, COVERS),
    "create-month-end": OperationKind(1, _draw_month_end, _run_series, COVERS),
}
