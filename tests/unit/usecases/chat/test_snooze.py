"""Snooze and Done, as typed and as pressed."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from duecourse.domain.chat.buttons import reminder_buttons
from duecourse.domain.chat.occurrence_ref import encode_ref
from duecourse.domain.errors import IdempotencyConflictError
from duecourse.domain.lifecycle import run_transitions
from duecourse.domain.tasks.ids import id_for_key
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task

from tests.support.builders.moments import DAY, HOUR, MINUTE, NOW, parse_instant
from tests.support.builders.tasks import ID, a_task, an_action, claim_task
from tests.support.chat_harness import ChatHarness

DONE, MINUTES_20, HOUR_1, TOMORROW = (button.command for button in reminder_buttons(a_task()))
SHORT = ID[:8]
OTHER = "ffffffff-0000-4000-8000-000000000000"


def rung(**fields: Any) -> Task:
    """At its time, which was NOW."""
    return run_transitions.commit(claim_task(a_task(**fields)), None, at=NOW)


def button(task: Task, label: str) -> str:
    """What it says under this task as it rings, or has just rung."""
    [says] = [one.command for one in reminder_buttons(task) if one.label == label]
    return says


def rung_next(harness: ChatHarness, task: Task) -> Task:
    """Its next occurrence, at its time, kept."""
    running = claim_task(task, f"run-{task.version}", at=task.due_at)
    harness.store.tasks[task.id] = run_transitions.commit(running, None, at=task.due_at)
    return harness.store.tasks[task.id]


def made(harness: ChatHarness) -> Task:
    [task] = [task for task in harness.tasks if task.id != ID]
    return task


# What has rung


@pytest.mark.parametrize(
    ("length", "due_at"),
    [("tomorrow @9", NOW + 21 * HOUR), ("friday @10", NOW + 3 * DAY - 2 * HOUR)],
)
def test_a_time_that_is_typed_is_no_mark_of_a_button(length: str, due_at: datetime) -> None:
    harness = ChatHarness(rung())
    harness.say(f"/snooze {SHORT} {length}")
    assert made(harness).due_at == due_at


def test_what_was_said_before_it_rang_and_heard_after_counts_from_the_ringing() -> None:
    harness = ChatHarness(rung())
    harness.say(f"/snooze {SHORT} 30s", at=NOW - MINUTE, now=NOW + MINUTE / 6)
    assert made(harness).due_at == NOW + MINUTE / 2


def test_an_occurrence_that_was_put_off_does_not_come_by_itself_at_its_own_time() -> None:
    harness = ChatHarness(rung(repeat="FREQ=HOURLY"))
    harness.say(f"/snooze {SHORT} 30m", at=NOW + 40 * MINUTE)
    assert harness.store.get(ID).due_at == NOW + 90 * MINUTE
    harness.say(MINUTES_20, at=NOW + 40 * MINUTE)
    assert made(harness).due_at == NOW + HOUR


def test_a_short_snooze_that_rang_before_its_message_was_taken_up_again_rings_once() -> None:
    harness = ChatHarness(rung())
    harness.say(f"/snooze {SHORT} 30s", key="1")
    snoozed = rung_next(harness, made(harness))
    assert snoozed.status is Status.DELIVERED
    harness.say(f"/snooze {SHORT} 30s", key="1", now=NOW + 2 * MINUTE)
    assert made(harness) == snoozed


def test_what_rang_and_rings_once_more_can_be_cancelled() -> None:
    harness = ChatHarness(rung())
    harness.say(MINUTES_20)
    assert harness.say(f"/cancel {SHORT}").startswith("Cancelled")
    assert made(harness).status is Status.CANCELLED
    assert harness.say(f"/cancel {SHORT}").startswith(f"Task {SHORT} is delivered")


def test_a_snooze_that_begins_to_ring_while_its_series_is_cancelled_rings() -> None:
    harness = ChatHarness(rung(repeat="daily"))
    harness.say(MINUTES_20)
    snoozed = made(harness)

    def rings() -> None:
        harness.store.tasks[snoozed.id] = claim_task(snoozed, "run-2", at=snoozed.due_at)

    harness.store.concurrent_writes += [lambda: None, rings]
    assert harness.say(f"/cancel {SHORT}") == f"Cancelled {SHORT}: stretch"
    assert harness.store.get(ID).status is Status.CANCELLED
    assert made(harness).status is Status.IN_PROGRESS


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
    harness = ChatHarness(rung(description="pay\nthe rent", reply_target="room"))
    reply = harness.say(says, at=NOW + 5 * MINUTE)
    again = made(harness)
    assert (again.due_at, again.repeat, again.type) == (due_at, None, "reminder")
    assert (again.description, again.reply_target) == ("pay\nthe rent", "room")
    assert reply.startswith(f"Snoozed {again.short_id} until ")
    assert reply.endswith("(UTC): pay the rent")
    assert harness.store.get(ID).status is Status.DELIVERED


@pytest.mark.parametrize("says", [MINUTES_20, HOUR_1, TOMORROW])
def test_a_series_that_rang_is_left_alone(says: str) -> None:
    series = rung(repeat="weekly")
    harness = ChatHarness(series)
    harness.say(says, at=NOW + 5 * MINUTE)
    assert harness.store.get(ID) == series
    assert made(harness).repeat is None


# In Berlin, the clocks go forward in the night to 29 March 2026; in New York they have before.
@pytest.mark.parametrize(
    ("lives_in", "due_at"),
    [
        (None, "2026-03-29T07:00:00Z"),
        ("Europe/Berlin", "2026-03-29T07:00:00Z"),
        ("America/New_York", "2026-03-29T08:00:00Z"),
    ],
)
def test_tomorrow_is_the_same_time_on_their_wall_or_that_of_its_zone(
    lives_in: str | None, due_at: str
) -> None:
    rang_at = parse_instant("2026-03-28T08:00:00Z")
    task = claim_task(a_task(due_at=rang_at, timezone="Europe/Berlin"), at=rang_at)
    harness = ChatHarness(run_transitions.commit(task, None, at=rang_at))
    if lives_in:
        harness.set_timezone(lives_in)
    harness.say(button(task, "Tomorrow"), at=rang_at + 8 * HOUR)
    assert made(harness).due_at == parse_instant(due_at)


@pytest.mark.parametrize("length", ["20m", "tomorrow", "until friday 9:00"])
def test_it_is_answered_in_the_zone_of_whoever_snoozes(length: str) -> None:
    harness = ChatHarness(rung(timezone="Europe/Berlin"))
    assert "(Asia/Tokyo): stretch" in harness.set_timezone("Asia/Tokyo").say(
        f"/snooze {SHORT} {length}"
    )


def test_however_often_it_is_pressed_one_reminder_waits_and_the_last_press_counts() -> None:
    harness = ChatHarness(rung())
    for minutes, says in enumerate([MINUTES_20, MINUTES_20, TOMORROW, HOUR_1]):
        harness.say(says, at=NOW + minutes * MINUTE)
    assert made(harness).due_at == NOW + 3 * MINUTE + HOUR


def test_a_press_that_is_delivered_twice_changes_nothing_the_second_time() -> None:
    harness = ChatHarness(rung())
    first = harness.say(MINUTES_20, key="same")
    before = made(harness)
    assert harness.say(MINUTES_20, key="same", now=NOW + MINUTE) == first
    assert made(harness) == before


def test_what_was_snoozed_and_rang_may_be_snoozed_by_its_old_button() -> None:
    harness = ChatHarness(rung())
    harness.say(MINUTES_20)
    again = made(harness)
    harness.store.tasks[again.id] = run_transitions.commit(
        claim_task(again, "run-2", at=again.due_at), None, at=again.due_at
    )
    harness.say(MINUTES_20, at=NOW + HOUR)
    assert sorted(task.due_at for task in harness.tasks) == [
        NOW,
        NOW + 20 * MINUTE,
        NOW + HOUR + 20 * MINUTE,
    ]
    harness.say(HOUR_1, at=NOW + HOUR)
    assert len(harness.tasks) == 3


def test_it_can_be_pressed_before_its_worker_has_written_that_it_rang() -> None:
    harness = ChatHarness(claim_task(a_task(repeat="daily")))
    harness.say(MINUTES_20)
    harness.store.tasks[ID] = rung(repeat="daily")
    harness.say(HOUR_1)
    assert made(harness).due_at == NOW + HOUR


def test_occurrences_of_a_series_are_snoozed_and_done_apart() -> None:
    first = rung(repeat="FREQ=MINUTELY;INTERVAL=30")
    harness = ChatHarness(first)
    harness.say(button(first, "1 h"), at=NOW + 10 * MINUTE)
    second = rung_next(harness, first)
    harness.say(button(second, "1 h"), at=NOW + 45 * MINUTE)
    waiting = {task.due_at: task for task in harness.tasks if task.id != ID}
    assert sorted(waiting) == [NOW + 70 * MINUTE, NOW + 105 * MINUTE]
    harness.say(button(first, "Done"), at=NOW + 50 * MINUTE)
    after = {task.due_at: task.status for task in harness.tasks if task.id != ID}
    assert after == {
        NOW + 70 * MINUTE: Status.CANCELLED,
        NOW + 105 * MINUTE: Status.PENDING,
    }


def test_the_button_of_yesterday_puts_off_what_rang_yesterday() -> None:
    yesterday = rung(repeat="daily")
    harness = ChatHarness(yesterday)
    harness.say(button(yesterday, "1 h"))
    today = rung_next(harness, yesterday)
    harness.say(button(today, "1 h"), at=NOW + DAY)
    harness.say(button(yesterday, "Snooze 20 min"), at=NOW + DAY)
    again = sorted(task.due_at for task in harness.tasks if task.id != ID)
    assert again == [NOW + DAY + 20 * MINUTE, NOW + DAY + HOUR]


def test_what_is_typed_and_buttons_of_before_mean_what_rang_last() -> None:
    first = rung(repeat="daily")
    harness = ChatHarness(first)
    harness.say(button(first, "1 h"))
    rung_next(harness, first)
    harness.say(f"/snooze {ID} 1h rang", at=NOW + DAY)
    harness.say(f"/snooze {SHORT} 20m", at=NOW + DAY)
    last = NOW + DAY + 20 * MINUTE
    assert [task.due_at for task in harness.tasks if task.id != ID] == [NOW + HOUR, last]
    harness.say(f"/done {ID}", at=NOW + DAY)
    assert [task.due_at for task in harness.tasks if task.status is Status.CANCELLED] == [last]


@pytest.mark.parametrize("done", [DONE, f"/done {ID}"])
def test_what_was_snoozed_before_buttons_named_their_occurrence_is_found(done: str) -> None:
    task = rung(repeat="daily")
    waiting = a_task(id=id_for_key(ID, "snoozed run-1"), due_at=NOW + HOUR)
    harness = ChatHarness(task, waiting)
    harness.say(f"/snooze {ID} 20m rang")
    assert made(harness).due_at == NOW + 20 * MINUTE
    harness.say(f"/done {ID} {encode_ref(NOW - DAY)}")
    rung_next(harness, task)
    harness.say(f"/done {ID}")
    assert made(harness).status is Status.PENDING
    harness.store.tasks[ID] = task
    harness.say(done)
    assert made(harness).status is Status.CANCELLED


def test_what_rang_with_milliseconds_is_found_again() -> None:
    rang_at = NOW + 999 * MINUTE / 60_000
    running = claim_task(a_task(due_at=rang_at, repeat="daily"), at=rang_at)
    harness = ChatHarness(run_transitions.commit(running, None, at=rang_at))
    harness.say(button(running, "1 h"), at=rang_at)
    harness.say(f"/done {SHORT}", at=rang_at)
    assert made(harness).status is Status.CANCELLED


@pytest.mark.parametrize(
    ("repeat", "label", "after", "comes_at"),
    [
        ("daily", "Tomorrow", 5 * HOUR, "Wednesday 18 Feb 2026, 12:00 (UTC)"),
        ("FREQ=HOURLY", "1 h", 59 * MINUTE / 60, "Tuesday 17 Feb 2026, 13:00 (UTC)"),
        ("FREQ=MINUTELY;INTERVAL=20", "Snooze 20 min", 0 * MINUTE, "Tuesday 17 Feb 2026, 12:20"),
    ],
)
def test_what_comes_by_itself_does_not_ring_twice_at_once(
    repeat: str, label: str, after: timedelta, comes_at: str
) -> None:
    series = rung(repeat=repeat)
    harness = ChatHarness(series)
    harness.say(f"/snooze {ID} 5m rang")
    reply = harness.say(button(series, label), at=NOW + after)
    assert reply.startswith(f"Not snoozed, the series comes again on {comes_at}")
    assert reply.endswith(": stretch")
    # They wanted it later than in those five minutes, and the last word counts.
    assert made(harness).status is Status.CANCELLED
    assert harness.store.get(ID) == series


@pytest.mark.parametrize(
    ("fields", "after"),
    [
        ({"repeat": "FREQ=HOURLY"}, MINUTE),
        ({"repeat": "FREQ=HOURLY", "paused": True}, 0 * MINUTE),
        ({"repeat": "FREQ=HOURLY", "status": Status.CANCELLED}, 0 * MINUTE),
        ({"repeat": "FREQ=HOURLY;COUNT=1"}, 0 * MINUTE),
    ],
    ids=["not so near", "paused", "cancelled", "over"],
)
def test_what_does_not_come_by_itself_rings_again(fields: dict[str, Any], after: timedelta) -> None:
    series = replace(rung(repeat=fields["repeat"]), **fields)
    harness = ChatHarness(series)
    harness.say(button(series, "1 h"), at=NOW + after)
    assert made(harness).due_at == NOW + after + HOUR


def test_what_was_snoozed_and_rang_does_not_run_into_its_series_either() -> None:
    series = rung(repeat="FREQ=HOURLY")
    harness = ChatHarness(series)
    harness.say(button(series, "Snooze 20 min"), at=NOW + 20 * MINUTE)
    again = rung_next(harness, made(harness))
    reply = harness.say(button(again, "Snooze 20 min"), at=again.due_at)
    assert reply.startswith(
        "Not snoozed, the series comes again on Tuesday 17 Feb 2026, 13:00 (UTC)"
    )
    assert len(harness.tasks) == 2


def test_in_a_moment_is_not_by_itself() -> None:
    harness = ChatHarness(rung(repeat="daily"))
    harness.say(f"/snooze {SHORT} 20 seconds", at=NOW + MINUTE / 60)
    assert made(harness).due_at == NOW + 21 * MINUTE / 60


def test_of_what_rang_and_what_is_to_come_the_nearer_is_meant() -> None:
    series = rung(repeat="FREQ=HOURLY;INTERVAL=2")
    soon, late = NOW + 30 * MINUTE, NOW + 90 * MINUTE
    harness = ChatHarness(series)
    harness.say(f"/snooze {SHORT} 20m", at=soon)
    assert made(harness).due_at == soon + 20 * MINUTE
    harness = ChatHarness(series)
    harness.say(f"/snooze {SHORT} 20m", at=late)
    assert harness.task.due_at == NOW + 2 * HOUR + 20 * MINUTE


def test_its_button_means_what_rang_though_the_next_is_nearer() -> None:
    series = rung(repeat="FREQ=HOURLY;INTERVAL=2")
    harness = ChatHarness(series)
    harness.say(MINUTES_20, at=NOW + 90 * MINUTE)
    assert harness.store.get(ID) == series
    assert made(harness).due_at == NOW + 110 * MINUTE


def test_a_press_that_took_too_long_to_get_here_is_asked_for_again() -> None:
    harness = ChatHarness(rung())
    reply = harness.say(MINUTES_20, now=NOW + 26 * MINUTE)
    assert reply.startswith("Your message arrived too late")
    assert harness.task.id == ID


# What is to come


def test_why_it_is_not_put_off_is_said_in_the_zone_of_whoever_asks() -> None:
    harness = ChatHarness(a_task(repeat="daily", due_at=NOW + HOUR)).set_timezone("Asia/Tokyo")
    assert harness.say(f"/snooze {SHORT} 24 hours") == (
        f"Task {SHORT} comes again on Wednesday 18 Feb 2026, 22:00 (Asia/Tokyo): "
        "choose a shorter snooze."
    )


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
    harness = ChatHarness(a_task(due_at=NOW + HOUR))
    assert harness.say(f"/snooze {SHORT} {length}").startswith(f"Snoozed {SHORT} until ")
    assert (harness.task.due_at, harness.task.nominal_at) == (due_at, NOW + HOUR)


def test_saying_it_twice_does_not_add_up() -> None:
    harness = ChatHarness(a_task(due_at=NOW + HOUR))
    for _ in range(3):
        harness.say(f"/snooze {SHORT} 20m")
    assert harness.task.due_at == NOW + HOUR + 20 * MINUTE


def test_an_action_to_come_is_put_off_and_one_that_is_over_is_not() -> None:
    harness = ChatHarness(an_action(due_at=NOW + HOUR))
    harness.say(f"/snooze {SHORT} 1h")
    assert harness.task.due_at == NOW + 2 * HOUR
    over = an_action(status=Status.COMPLETED, delivered_at=NOW)
    harness = ChatHarness(replace(over, run=claim_task(an_action()).run))
    for says in (f"/snooze {SHORT} 1h", HOUR_1):
        assert harness.say(says) == f"Task {SHORT} is completed: it cannot be snoozed."
    assert harness.task.status is Status.COMPLETED


@pytest.mark.parametrize("length", ["soon", "rang", "every day", "-5m", "at 5", "999999 days"])
def test_how_long_is_asked_back(length: str) -> None:
    task = a_task(due_at=NOW + HOUR)
    harness = ChatHarness(task)
    asked = harness.say(f"/snooze {SHORT} {length}")
    assert asked.endswith((".", "?", "Example: /snooze a1b2c3d4 20 minutes"))
    assert harness.task == task


@pytest.mark.parametrize("status", [Status.CANCELLED, Status.FAILED, Status.BLOCKED])
def test_what_is_over_without_having_rung_is_not_snoozed(status: Status) -> None:
    harness = ChatHarness(a_task(status=status))
    assert harness.say(f"/snooze {SHORT} 1h") == f"Task {SHORT} is {status}: it cannot be snoozed."


# Done


def test_done_lets_go_of_what_was_snoozed() -> None:
    harness = ChatHarness(rung(description="pay"))
    harness.say(MINUTES_20)
    assert harness.say(DONE) == "Done: pay"
    assert made(harness).status is Status.CANCELLED
    assert harness.store.get(ID).status is Status.DELIVERED


def test_done_leaves_a_series_to_go_on_and_says_so() -> None:
    series = rung(repeat="daily")
    harness = ChatHarness(series)
    assert harness.say(DONE) == (
        "Done: stretch\nNext occurrence: Wednesday 18 Feb 2026, 12:00 (UTC)"
    )
    assert harness.task == series


def test_how_a_series_goes_on_is_told_in_the_zone_of_whoever_asks() -> None:
    harness = ChatHarness(rung(repeat="daily")).set_timezone("Asia/Tokyo")
    assert harness.say(DONE).endswith("Next occurrence: Wednesday 18 Feb 2026, 21:00 (Asia/Tokyo)")


def test_a_series_that_is_cancelled_takes_along_what_was_snoozed_of_it() -> None:
    first = rung(repeat="daily", description="pay")
    harness = ChatHarness(first, a_task(id=OTHER, due_at=NOW + HOUR))
    harness.say(button(first, "1 h"))
    second = rung_next(harness, first)
    harness.say(button(second, "Snooze 20 min"), at=NOW + DAY)
    assert harness.say(f"/cancel {SHORT}", at=NOW + DAY) == (
        f"Cancelled {SHORT}: pay\nIts snoozed reminders are cancelled too."
    )
    assert [task.id for task in harness.tasks if task.is_open] == [OTHER]
    assert len(harness.tasks) == 4


@pytest.mark.parametrize("says", [DONE, f"/cancel {SHORT}"])
def test_what_was_snoozed_twice_is_let_go_of_at_its_beginning(says: str) -> None:
    series = rung(repeat="daily")
    harness = ChatHarness(series)
    harness.say(HOUR_1)
    again = rung_next(harness, made(harness))
    harness.say(button(again, "1 h"), at=again.due_at)
    harness.say(says, at=again.due_at)
    statuses = {task.due_at: task.status for task in harness.tasks if task.id != ID}
    assert statuses == {NOW + HOUR: Status.DELIVERED, NOW + 2 * HOUR: Status.CANCELLED}


def test_what_rings_again_names_what_was_snoozed_first() -> None:
    harness = ChatHarness(rung())
    harness.say(HOUR_1)
    again = rung_next(harness, made(harness))
    harness.say(button(again, "1 h"), at=again.due_at)
    assert [task.snooze_of for task in harness.tasks] == [None, ID, ID]
    assert [task.payload for task in harness.tasks] == [{}, {}, {}]


def test_a_link_of_another_owners_task_counts_for_nothing() -> None:
    series = rung(repeat="daily")
    others = a_task(id=OTHER, sender_id="bob", due_at=NOW + HOUR, snooze_of=ID)
    harness = ChatHarness(series, others)
    assert harness.say(f"/cancel {SHORT}") == f"Cancelled {SHORT}: stretch"
    assert harness.store.get(OTHER) == others


@pytest.mark.parametrize("says", [DONE, HOUR_1])
def test_another_owners_task_is_not_taken_for_the_snooze(says: str) -> None:
    series = rung(repeat="daily")
    taken = id_for_key(ID, f"snoozed {encode_ref(NOW)}")
    others = a_task(id=taken, sender_id="bob", due_at=NOW + DAY / 2)
    harness = ChatHarness(series, others)
    with suppress(IdempotencyConflictError):
        harness.say(says)
    assert harness.store.get(taken) == others


def test_what_was_snoozed_is_cancelled_alone() -> None:
    series = rung(repeat="daily")
    harness = ChatHarness(series)
    harness.say(HOUR_1)
    again = made(harness)
    assert harness.say(f"/cancel {again.id}") == f"Cancelled {again.short_id}: stretch"
    assert harness.store.get(ID) == series


def test_what_is_done_ahead_of_time_does_not_ring() -> None:
    harness = ChatHarness(a_task(due_at=NOW + HOUR))
    assert harness.say(f"/done {SHORT}") == "Done: stretch"
    assert harness.task.status is Status.CANCELLED


def test_done_while_its_worker_still_writes_changes_nothing() -> None:
    running = claim_task(a_task())
    harness = ChatHarness(running)
    assert harness.say(DONE) == "Done: stretch"
    assert harness.task == running


def test_an_action_is_cancelled_and_not_done() -> None:
    harness = ChatHarness(an_action())
    assert harness.say(DONE) == f"Task {SHORT} is not a reminder: cancel it instead."
    assert harness.task.status is Status.PENDING
