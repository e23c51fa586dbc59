"""Schedules tick rarely while the world settles, and none puts off another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, cast

from local.simulate.settling_schedule import PACES, Pace, SettlingSchedule

START = datetime(2026, 2, 17, 12, tzinfo=UTC)


@dataclass
class Ticks:
    """A schedule that is due at every multiple of its period."""

    period: timedelta
    at: list[datetime] = field(default_factory=list)

    def take_due(self, now: datetime) -> Sequence[Callable[[], None]]:
        self.at.append(now)
        return ()

    def next_at(self, now: datetime, _until: datetime | None = None) -> datetime:
        return START + ((now - START) // self.period + 1) * self.period


def test_a_slow_schedule_ticks_though_a_fast_one_ticks_earlier() -> None:
    fast, slow = Ticks(timedelta(minutes=1)), Ticks(timedelta(minutes=7))
    schedules = [
        SettlingSchedule(cast(Any, one), lambda: True, lambda: None) for one in (fast, slow)
    ]
    now = START
    while now < START + 3 * Pace().longest_gap:
        for schedule in schedules:
            schedule.take_due(now)
        now = min(found for one in schedules if (found := one.next_at(now)))

    assert len(slow.at) >= 3
    assert len(fast.at) <= 5


def test_a_pace_says_how_long_after_a_due_task_a_schedule_ticks() -> None:
    due = START + timedelta(minutes=30)
    ticks = {
        name: SettlingSchedule(
            cast(Any, Ticks(timedelta(minutes=1))), lambda: True, lambda: due, pace
        ).next_at(START)
        for name, pace in {"ScannerFunction": Pace(), **PACES}.items()
    }

    assert ticks == {
        "ScannerFunction": due,
        "SweeperFunction": due + timedelta(minutes=4),
        "AlertsFunction": START + timedelta(days=3),
    }
