"""Snooze and Done, as typed and as pressed."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest
from duecourse.domain import attempt
from duecourse.domain.chat.buttons import under_reminder
from duecourse.domain.status import Status
from duecourse.domain.task import Task

from tests.unit.builders import DAY, HOUR, ID, MINUTE, NOW, a_task, an_action, at, claimed
from tests.unit.chat_bench import ChatBench

DONE, MINUTES_20, HOUR_1, TOMORROW = (button.says for button in under_reminder(a_task()))
SHORT = ID[:8]


def rung(**fields: Any) -> Task:
    """At its time, which was NOW."""
    return attempt.committed(claimed(a_task(**fields)), None, at=NOW)


def made(bench: ChatBench) -> Task:
    [task] = [task for task in bench.tasks if task.id != ID]
    return task


# What has rung


@pytest.mark.parametrize(
    ("says", "due_at"),
    [
        (MINUTES_20, NOW + 25 * MINUTE),
        (HOUR_1, NOW + 65 * MINUTE),
        (TOMORROW, NOW + DAY),
        (f"/snooze {SHORT} 2 hours", NOW + 125 * MINUTE),
        (f"/snooze {SHORT} for half an hour", NOW + 35 * MINUTE),
        (f"/snooze {SHORT} until 18:00", NOW + 6 * HOUR),
        (f"/snooze {SHORT} tomorrow 9:00", NOW + 21 * HOUR),
    ],
)
def test_a_reminder_that_rang_rings_again_in_the_same_words(says: str, due_at: datetime) -> None:
    bench = ChatBench(rung(description="pay\nthe rent", reply_target="room"))
    reply = bench.say(says, at=NOW + 5 * MINUTE)
    again = made(bench)
    assert (again.due_at, again.repeat, again.type) == (due_at, None, "reminder")
    assert (again.description, again.reply_target) == ("pay\nthe rent", "room")
    assert reply.startswith(f"Snoozed {again.short_id} until ")
    assert reply.endswith("(UTC): pay the rent")
    assert bench.store.get(ID).status is Status.DELIVERED


@pytest.mark.parametrize("says", [MINUTES_20, HOUR_1, TOMORROW])
def test_a_series_that_rang_is_left_alone(says: str) -> None:
    series = rung(repeat="daily")
    bench = ChatBench(series)
    bench.say(says, at=NOW + 5 * MINUTE)
    assert bench.store.get(ID) == series
    assert made(bench).repeat is None


def test_tomorrow_is_the_same_time_on_the_wall_of_its_zone() -> None:
    # In Berlin, the clocks go forward in the night to 29 March 2026.
    rang_at = at("2026-03-28T08:00:00Z")
    task = claimed(a_task(due_at=rang_at, timezone="Europe/Berlin"), at=rang_at)
    bench = ChatBench(attempt.committed(task, None, at=rang_at))
    bench.say(TOMORROW, at=rang_at + 8 * HOUR)
    assert made(bench).due_at == at("2026-03-29T07:00:00Z")


def test_however_often_it_is_pressed_one_reminder_waits_and_the_last_press_counts() -> None:
    bench = ChatBench(rung())
    for minutes, says in enumerate([MINUTES_20, MINUTES_20, TOMORROW, HOUR_1]):
        bench.say(says, at=NOW + minutes * MINUTE)
    assert made(bench).due_at == NOW + 3 * MINUTE + HOUR


def test_a_press_that_is_delivered_twice_changes_nothing_the_second_time() -> None:
    bench = ChatBench(rung())
    first = bench.say(MINUTES_20, key="same")
    before = made(bench)
    assert bench.say(MINUTES_20, key="same", now=NOW + MINUTE) == first
    assert made(bench) == before


def test_what_was_snoozed_and_rang_may_be_snoozed_by_its_old_button() -> None:
    bench = ChatBench(rung())
    bench.say(MINUTES_20)
    again = made(bench)
    bench.store.tasks[again.id] = attempt.committed(
        claimed(again, "run-2", at=again.due_at), None, at=again.due_at
    )
    bench.say(MINUTES_20, at=NOW + HOUR)
    assert sorted(task.due_at for task in bench.tasks) == [
        NOW,
        NOW + 20 * MINUTE,
        NOW + HOUR + 20 * MINUTE,
    ]
    bench.say(HOUR_1, at=NOW + HOUR)
    assert len(bench.tasks) == 3


def test_it_can_be_pressed_before_its_worker_has_written_that_it_rang() -> None:
    bench = ChatBench(claimed(a_task(repeat="daily")))
    bench.say(MINUTES_20)
    bench.store.tasks[ID] = rung(repeat="daily")
    bench.say(HOUR_1)
    assert made(bench).due_at == NOW + HOUR


def test_two_occurrences_of_a_series_are_snoozed_apart() -> None:
    series = rung(repeat="daily")
    bench = ChatBench(series)
    bench.say(TOMORROW)
    tomorrow = claimed(series, "run-2", at=series.due_at)
    bench.store.tasks[ID] = attempt.committed(tomorrow, None, at=series.due_at)
    bench.say(TOMORROW, at=NOW + DAY)
    again = sorted(task.due_at for task in bench.tasks if task.id != ID)
    assert again == [NOW + DAY, NOW + 2 * DAY]


def test_of_what_rang_and_what_is_to_come_the_nearer_is_meant() -> None:
    series = rung(repeat="FREQ=HOURLY;INTERVAL=2")
    soon, late = NOW + 30 * MINUTE, NOW + 90 * MINUTE
    bench = ChatBench(series)
    bench.say(f"/snooze {SHORT} 20m", at=soon)
    assert made(bench).due_at == soon + 20 * MINUTE
    bench = ChatBench(series)
    bench.say(f"/snooze {SHORT} 20m", at=late)
    assert bench.task.due_at == NOW + 2 * HOUR + 20 * MINUTE


def test_its_button_means_what_rang_though_the_next_is_nearer() -> None:
    series = rung(repeat="FREQ=HOURLY;INTERVAL=2")
    bench = ChatBench(series)
    bench.say(MINUTES_20, at=NOW + 90 * MINUTE)
    assert bench.store.get(ID) == series
    assert made(bench).due_at == NOW + 110 * MINUTE


def test_a_press_that_took_too_long_to_get_here_is_asked_for_again() -> None:
    bench = ChatBench(rung())
    reply = bench.say(MINUTES_20, now=NOW + 26 * MINUTE)
    assert reply.startswith("Your message took too long to get here")
    assert bench.task.id == ID


# What is to come


@pytest.mark.parametrize(
    ("length", "due_at"),
    [
        ("20m", NOW + HOUR + 20 * MINUTE),
        ("until 18:00", NOW + 6 * HOUR),
        ("tomorrow", NOW + DAY + HOUR),
        ("20m rang", NOW + HOUR + 20 * MINUTE),
    ],
)
def test_what_is_to_come_is_put_off_from_its_own_time(length: str, due_at: datetime) -> None:
    bench = ChatBench(a_task(due_at=NOW + HOUR))
    assert bench.say(f"/snooze {SHORT} {length}").startswith(f"Snoozed {SHORT} until ")
    assert (bench.task.due_at, bench.task.nominal_at) == (due_at, NOW + HOUR)


def test_saying_it_twice_does_not_add_up() -> None:
    bench = ChatBench(a_task(due_at=NOW + HOUR))
    for _ in range(3):
        bench.say(f"/snooze {SHORT} 20m")
    assert bench.task.due_at == NOW + HOUR + 20 * MINUTE


def test_an_action_to_come_is_put_off_and_one_that_is_over_is_not() -> None:
    bench = ChatBench(an_action(due_at=NOW + HOUR))
    bench.say(f"/snooze {SHORT} 1h")
    assert bench.task.due_at == NOW + 2 * HOUR
    over = an_action(status=Status.COMPLETED, delivered_at=NOW)
    bench = ChatBench(replace(over, run=claimed(an_action()).run))
    for says in (f"/snooze {SHORT} 1h", HOUR_1):
        assert bench.say(says) == f"Task {SHORT} is completed: it cannot be snoozed."
    assert bench.task.status is Status.COMPLETED


@pytest.mark.parametrize("length", ["soon", "rang", "every day", "-5m", "at 5", "999999 days"])
def test_how_long_is_asked_back(length: str) -> None:
    task = a_task(due_at=NOW + HOUR)
    bench = ChatBench(task)
    assert bench.say(f"/snooze {SHORT} {length}").endswith((".", "?"))
    assert bench.task == task


@pytest.mark.parametrize("status", [Status.CANCELLED, Status.FAILED, Status.BLOCKED])
def test_what_is_over_without_having_rung_is_not_snoozed(status: Status) -> None:
    bench = ChatBench(a_task(status=status))
    assert bench.say(f"/snooze {SHORT} 1h") == f"Task {SHORT} is {status}: it cannot be snoozed."


# Done


def test_done_lets_go_of_what_was_snoozed() -> None:
    bench = ChatBench(rung(description="pay"))
    bench.say(MINUTES_20)
    assert bench.say(DONE) == "Done: pay"
    assert made(bench).status is Status.CANCELLED
    assert bench.store.get(ID).status is Status.DELIVERED


def test_done_leaves_a_series_to_go_on_and_says_so() -> None:
    series = rung(repeat="daily")
    bench = ChatBench(series)
    assert bench.say(DONE) == (
        "Done: stretch\nThe series goes on: Wednesday 18 Feb 2026, 12:00 (UTC)."
    )
    assert bench.task == series


def test_what_is_done_ahead_of_time_does_not_ring() -> None:
    bench = ChatBench(a_task(due_at=NOW + HOUR))
    assert bench.say(f"/done {SHORT}") == "Done: stretch"
    assert bench.task.status is Status.CANCELLED


def test_done_while_its_worker_still_writes_changes_nothing() -> None:
    running = claimed(a_task())
    bench = ChatBench(running)
    assert bench.say(DONE) == "Done: stretch"
    assert bench.task == running


def test_an_action_is_cancelled_and_not_done() -> None:
    bench = ChatBench(an_action())
    assert bench.say(DONE) == f"Task {SHORT} is no reminder: cancel it instead."
    assert bench.task.status is Status.PENDING
