"""Every kind of repeat across two DST changes, a leap day and month ends, in three zones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, time, timedelta
from itertools import product, takewhile
from zoneinfo import ZoneInfo

import pytest
from duecourse.domain.time.instant import to_text

from tests.support.stack_client import running_stack

START = date(2028, 1, 31)
END = datetime(2028, 11, 6, tzinfo=UTC)
# Local times that DST skips or repeats in the zone.
WALL_TIMES = {
    "Europe/Berlin": time(2, 30),
    "America/New_York": time(2, 30),
    "Australia/Lord_Howe": time(2, 15),
}
MINUTE = timedelta(minutes=1)


def iterate_days() -> Iterator[date]:
    day = START
    while True:
        yield day
        day += timedelta(days=1)


def iterate_month_ends() -> Iterator[date]:
    return (day for day in iterate_days() if (day + timedelta(days=1)).day == 1)


KINDS: dict[str, Callable[[], Iterator[date]]] = {
    "monthly": iterate_month_ends,
    "weekly": lambda: (day for day in iterate_days() if day.weekday() == START.weekday()),
    "{minute} {hour} * * 0": lambda: (day for day in iterate_days() if day.weekday() == 6),
    "RRULE:FREQ=MONTHLY;BYDAY=-1SU": lambda: (
        day for day in iterate_days() if day.weekday() == 6 and (day + timedelta(days=7)).day <= 7
    ),
}
DAILY_KINDS: dict[str, Callable[[], Iterator[date]]] = {
    "daily": iterate_days,
    "weekdays": lambda: (day for day in iterate_days() if day.weekday() < 5),
}


def first_instant_at(day: date, wall: time, zone: ZoneInfo) -> datetime:
    """Return the first instant at which local time reaches or has passed the wall time."""
    local_time = datetime.combine(day, wall)
    instant = (local_time - timedelta(hours=15)).replace(tzinfo=UTC)
    while instant.astimezone(zone).replace(tzinfo=None) < local_time:
        instant += MINUTE
    return instant


def expected_times(kind: Iterator[date], wall: time, zone: ZoneInfo, end: datetime) -> list[str]:
    instants = (first_instant_at(day, wall, zone) for day in kind)
    return [to_text(instant) for instant in takewhile(lambda instant: instant <= end, instants)]


def test_nominal_times_over_a_year_of_clock_changes() -> None:
    with running_stack("2028-01-30T00:00:00Z") as client:
        task_ids = {}
        for (zone, wall), kind in product(WALL_TIMES.items(), KINDS):
            repeat = kind.format(minute=wall.minute, hour=wall.hour)
            due_at = datetime.combine(START, wall).isoformat()
            task = client.create(repeat=repeat, timezone=zone, due_at=due_at)
            task_ids[zone, kind] = task["id"]
        now = client.advance("281d")

        for (zone, kind), task_id in task_ids.items():
            nominal_times = [run["nominal_at"] for run in client.items(f"/tasks/{task_id}/runs")]
            expected = expected_times(KINDS[kind](), WALL_TIMES[zone], ZoneInfo(zone), now)
            assert nominal_times == expected, (zone, kind)


@pytest.mark.parametrize(
    ("zone", "first"),
    [
        ("Europe/Berlin", "2028-02-25"),  # a leap day
        ("Europe/Berlin", "2028-03-24"),
        ("Europe/Berlin", "2028-10-27"),
        ("America/New_York", "2028-03-10"),
        ("America/New_York", "2028-11-03"),
        ("Australia/Lord_Howe", "2028-03-31"),
        ("Australia/Lord_Howe", "2028-09-29"),
    ],
)
def test_nominal_times_day_by_day_around_a_clock_change(zone: str, first: str) -> None:
    wall, start = WALL_TIMES[zone], date.fromisoformat(first)
    with running_stack(f"{start - timedelta(days=1)}T00:00:00Z") as client:
        due_at = datetime.combine(start, wall).isoformat()
        task_ids = {
            kind: client.create(repeat=kind, timezone=zone, due_at=due_at)["id"]
            for kind in DAILY_KINDS
        }
        now = client.advance("9d")

        for kind, task_id in task_ids.items():
            nominal_times = [run["nominal_at"] for run in client.items(f"/tasks/{task_id}/runs")]
            days_of_kind = (day for day in DAILY_KINDS[kind]() if day >= start)
            assert nominal_times == expected_times(days_of_kind, wall, ZoneInfo(zone), now), kind


def test_an_outage_of_three_days_causes_one_catch_up_run_and_a_recorded_skip() -> None:
    with running_stack("2026-02-17T12:00:00Z") as client:
        task = client.create(due_at="2026-02-17T15:00:00Z", repeat="daily")
        for function in ("scanner", "sweeper"):
            client.add_fault(function=function, call="dynamodb.GetItem", times=1_000_000)
        client.advance("76h")  # until the 20th, 16:00
        assert client.outbox() == []

        client.call("DELETE", "/_local/faults")
        client.advance("10m")

        assert len(client.outbox()) == 1
        events = client.items(f"/tasks/{task['id']}/history")
        [skipped] = [event for event in events if event["type"] == "task:skipped"]
        assert skipped["detail"]["count"] == 3
        assert client.task(task["id"])["due_at"] == "2026-02-21T15:00:00.000Z"


def test_a_minutely_series_misses_no_minute() -> None:
    with running_stack("2026-02-17T12:00:30Z") as client:
        client.create(repeat="* * * * *")
        client.advance("30m")

        assert [sent["at"][11:19] for sent in client.outbox()] == [
            f"12:{minute:02}:00" for minute in range(1, 31)
        ]


def test_retries_move_the_due_time_and_not_the_series() -> None:
    with running_stack("2026-02-17T12:00:00Z") as client:
        task = client.create(due_at="2026-02-17T15:00:00Z", repeat="daily")
        client.add_fault(function="worker", call="channel.send", kind="error")
        client.advance("3h1m")
        waiting = client.task(task["id"])
        client.advance("1d")

        assert waiting["nominal_at"] == "2026-02-17T15:00:00.000Z"
        assert waiting["due_at"] == waiting["next_retry_at"] > waiting["nominal_at"]
        assert [sent["at"][:16] for sent in client.outbox()] == [
            "2026-02-17T15:02",
            "2026-02-18T15:00",
        ]


def test_a_series_is_paused_after_three_failed_occurrences_in_a_row() -> None:
    with running_stack("2026-02-17T12:00:00Z") as client:
        task = client.create(due_at="2026-02-17T15:00:00Z", repeat="daily")
        client.add_fault(function="worker", call="channel.send", kind="error", times=9)
        client.advance("5d")
        paused = client.task(task["id"])

        client.call("POST", f"/tasks/{task['id']}/resume")
        client.advance("1d")

        assert (paused["status"], paused["paused"], paused["retry_count"]) == ("pending", True, 0)
        types = [event["type"] for event in client.items(f"/tasks/{task['id']}/history")]
        assert types.count("task:failed") == 3
        assert "task:paused" in types
        texts = [sent["text"] for sent in client.outbox()]
        assert (texts.count("Reminder: stretch"), len(texts)) == (1, 4), (
            "each failed occurrence was notified"
        )


def test_run_now_keeps_the_next_occurrence() -> None:
    with running_stack("2026-02-17T12:00:00Z") as client:
        task = client.create(due_at="2026-02-17T15:00:00Z", repeat="daily")
        client.call("POST", f"/tasks/{task['id']}/run")
        client.advance("4h")

        assert [sent["at"][:16] for sent in client.outbox()] == [
            "2026-02-17T12:00",
            "2026-02-17T15:00",
        ]
