"""The scanner waits a little, so that workers sleep less."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random
from statistics import fmean

import pytest
from duecourse.domain.dispatch.timing import (
    LATE_TOLERANCE,
    MAX_SLEEP,
    Dispatch,
    aligned_send_time,
    delay_seconds,
)
from duecourse.usecases.dispatch.send_aligned import GROUP_WIDTH, send_aligned

from tests.support.builders.moments import MILLISECOND, MINUTE, NOW
from tests.support.fakes.clock import ManualClock

SECOND = timedelta(seconds=1)
RANDOM = Random(1)  # noqa: S311 - reproducible


@dataclass
class RecordingQueue:
    """Records how long before its due time each message becomes visible, and the requests."""

    early: list[timedelta] = field(default_factory=list)
    requests: int = 0

    def send(self, dispatches: Iterable[Dispatch], *, now: datetime) -> int:
        messages = list(dispatches)
        self.requests += -(-len(messages) // 10)
        for one in messages:
            self.early.append(one.due_at - now - delay_seconds(one.due_at, now=now) * SECOND)
        return len(messages)

    def try_send(self, dispatch: Dispatch, *, now: datetime) -> None:
        raise NotImplementedError


def scan(
    due_times: Iterable[timedelta], *, at: timedelta, deadline: timedelta = MINUTE
) -> tuple[RecordingQueue, ManualClock]:
    """Send messages that are due that long after NOW, in a scan that starts at a fraction."""
    queue, clock = RecordingQueue(), ManualClock(NOW + at)
    dispatches = sorted(Dispatch(NOW + due, f"task-{n}") for n, due in enumerate(due_times))
    sent = send_aligned(dispatches, queue=queue, clock=clock, deadline=clock.at + deadline)
    assert sent == len(dispatches)
    return queue, clock


def mean_sleep_ms(early: list[timedelta]) -> float:
    return fmean(max(0.0, one / MILLISECOND) for one in early)


def fractions() -> list[timedelta]:
    return [RANDOM.randrange(1000) * MILLISECOND for _ in range(200)]


@pytest.mark.parametrize("due", [MINUTE, 73 * SECOND], ids=["whole minutes", "whole seconds"])
def test_messages_for_whole_seconds_become_visible_just_before(due: timedelta) -> None:
    early = [scan([due], at=fraction)[0].early[0] for fraction in fractions()]
    assert all(-LATE_TOLERANCE <= one <= MAX_SLEEP for one in early)
    assert mean_sleep_ms(early) < 75


def test_messages_for_any_millisecond_become_visible_just_before() -> None:
    early: list[timedelta] = []
    for fraction in fractions():
        due_times = [MINUTE + RANDOM.randrange(60_000) * MILLISECOND for _ in range(30)]
        queue, clock = scan(due_times, at=fraction)
        early += queue.early
        assert clock.at <= NOW + fraction + SECOND
        assert queue.requests <= SECOND // GROUP_WIDTH + 1
    assert all(-LATE_TOLERANCE <= one <= MAX_SLEEP for one in early)
    assert mean_sleep_ms(early) < 100


def test_messages_that_need_no_wait_are_sent_at_once_and_together() -> None:
    queue, clock = scan([MINUTE + n * SECOND for n in range(20)], at=timedelta(0))
    assert (clock.at, queue.requests) == (NOW, 2)


def test_after_the_deadline_nothing_is_waited_for() -> None:
    queue, clock = scan([MINUTE], at=500 * MILLISECOND, deadline=200 * MILLISECOND)
    assert clock.at == NOW + 500 * MILLISECOND
    assert queue.early == [500 * MILLISECOND]


def test_a_message_beyond_the_longest_delay_waits_for_nothing() -> None:
    due_at = NOW + timedelta(hours=1, milliseconds=500)
    assert aligned_send_time(due_at, now=NOW) == NOW
