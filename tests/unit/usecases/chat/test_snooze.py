"""The snooze and done commands, typed or sent by a button."""

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

DONE_BUTTON, MINUTES_20, HOUR_1, TOMORROW = (
    button_command.command for button_command in reminder_buttons(a_task())
)
SHORT_ID = ID[:8]
OTHER_ID = "ffffffff-0000-4000-8000-000000000000"


def a_delivered_reminder(**fields: Any) -> Task:
    """Return a reminder that was delivered at NOW."""
    return run_transitions.commit(claim_task(a_task(**fields)), None, at=NOW)


def button_command(task: Task, label: str) -> str:
    """Return the command of this task's reminder button with this label."""
    [command] = [button.command for button in reminder_buttons(task) if button.label == label]
    return command


def deliver_next(harness: ChatHarness, task: Task) -> Task:
    """Deliver and store the next occurrence at its due time."""
    running = claim_task(task, f"run-{task.version}", at=task.due_at)
    harness.store.tasks[task.id] = run_transitions.commit(running, None, at=task.due_at)
    return harness.store.tasks[task.id]


def snoozed_copy(harness: ChatHarness) -> Task:
    [task] = [task for task in harness.tasks if task.id != ID]
    return task


# Delivered reminders


@pytest.mark.parametrize(
    ("length", "due_at"),
    [("tomorrow @9", NOW + 21 * HOUR), ("friday @10", NOW + 3 * DAY - 2 * HOUR)],
)
def test_a_typed_time_is_not_read_as_an_occurrence_reference(length: str, due_at: datetime) -> None:
    harness = ChatHarness(a_delivered_reminder())
    harness.say(f"/snooze {SHORT_ID} {length}")
    assert snoozed_copy(harness).due_at == due_at


def test_a_snooze_sent_before_delivery_counts_from_the_delivery() -> None:
    harness = ChatHarness(a_delivered_reminder())
    harness.say(f"/snooze {SHORT_ID} 30s", at=NOW - MINUTE, now=NOW + MINUTE / 6)
    assert snoozed_copy(harness).due_at == NOW + MINUTE / 2


def test_a_postponed_next_occurrence_does_not_replace_a_snoozed_copy() -> None:
    harness = ChatHarness(a_delivered_reminder(repeat="FREQ=HOURLY"))
    harness.say(f"/snooze {SHORT_ID} 30m", at=NOW + 40 * MINUTE)
    assert harness.store.get(ID).due_at == NOW + 90 * MINUTE
    harness.say(MINUTES_20, at=NOW + 40 * MINUTE)
    assert snoozed_copy(harness).due_at == NOW + HOUR


def test_a_redelivered_snooze_whose_copy_was_delivered_adds_no_second_copy() -> None:
    harness = ChatHarness(a_delivered_reminder())
    harness.say(f"/snooze {SHORT_ID} 30s", key="1")
    snoozed = deliver_next(harness, snoozed_copy(harness))
    assert snoozed.status is Status.DELIVERED
    harness.say(f"/snooze {SHORT_ID} 30s", key="1", now=NOW + 2 * MINUTE)
    assert snoozed_copy(harness) == snoozed


def test_a_redelivered_snooze_of_an_occurrence_that_has_come_adds_no_copy() -> None:
    """The first time it rescheduled the coming occurrence of the series, and then crashed."""
    harness = ChatHarness(a_task(due_at=NOW + MINUTE, repeat="daily"))
    harness.say(f"/snooze {SHORT_ID} 1m", key="1")
    assert harness.task.due_at == NOW + 2 * MINUTE
    series = deliver_next(harness, harness.task)
    assert series.status is Status.PENDING
    harness.say(f"/snooze {SHORT_ID} 1m", key="1", now=NOW + 3 * MINUTE)
    assert harness.tasks == [series]


def test_a_snoozed_copy_can_be_cancelled_by_the_original_id() -> None:
    harness = ChatHarness(a_delivered_reminder())
    harness.say(MINUTES_20)
    assert harness.say(f"/cancel {SHORT_ID}").startswith("Cancelled")
    assert snoozed_copy(harness).status is Status.CANCELLED
    assert harness.say(f"/cancel {SHORT_ID}").startswith(f"Task {SHORT_ID} is delivered")


def test_a_snoozed_copy_that_already_runs_survives_cancelling_its_series() -> None:
    harness = ChatHarness(a_delivered_reminder(repeat="daily"))
    harness.say(MINUTES_20)
    snoozed = snoozed_copy(harness)

    def start_run() -> None:
        harness.store.tasks[snoozed.id] = claim_task(snoozed, "run-2", at=snoozed.due_at)

    harness.store.concurrent_writes += [lambda: None, start_run]
    assert harness.say(f"/cancel {SHORT_ID}") == f"Cancelled {SHORT_ID}: stretch"
    assert harness.store.get(ID).status is Status.CANCELLED
    assert snoozed_copy(harness).status is Status.IN_PROGRESS


@pytest.mark.parametrize(
    ("command", "due_at"),
    [
        (MINUTES_20, NOW + 25 * MINUTE),
        (HOUR_1, NOW + 65 * MINUTE),
        (TOMORROW, NOW + DAY),
        (f"/snooze {SHORT_ID} 2 hours", NOW + 125 * MINUTE),
        (f"/snooze {SHORT_ID} for half an hour", NOW + 35 * MINUTE),
        (f"/snooze {SHORT_ID} until 18:00", NOW + 6 * HOUR),
        (f"/snooze {SHORT_ID} tomorrow 9:00", NOW + 21 * HOUR),
    ],
)
def test_snoozing_a_delivered_reminder_creates_a_copy_with_its_text(
    command: str, due_at: datetime
) -> None:
    harness = ChatHarness(a_delivered_reminder(description="pay\nthe rent", reply_target="room"))
    reply = harness.say(command, at=NOW + 5 * MINUTE)
    snoozed_again = snoozed_copy(harness)
    assert (snoozed_again.due_at, snoozed_again.repeat, snoozed_again.type) == (
        due_at,
        None,
        "reminder",
    )
    assert (snoozed_again.description, snoozed_again.reply_target) == ("pay\nthe rent", "room")
    assert reply.startswith(f"Snoozed {snoozed_again.short_id} until ")
    assert reply.endswith("(UTC): pay the rent")
    assert harness.store.get(ID).status is Status.DELIVERED


@pytest.mark.parametrize("command", [MINUTES_20, HOUR_1, TOMORROW])
def test_snoozing_an_occurrence_does_not_change_its_series(command: str) -> None:
    series = a_delivered_reminder(repeat="weekly")
    harness = ChatHarness(series)
    harness.say(command, at=NOW + 5 * MINUTE)
    assert harness.store.get(ID) == series
    assert snoozed_copy(harness).repeat is None


# In Berlin, the clocks go forward in the night to 29 March 2026; in New York they have before.
@pytest.mark.parametrize(
    ("sender_timezone", "due_at"),
    [
        (None, "2026-03-29T07:00:00Z"),
        ("Europe/Berlin", "2026-03-29T07:00:00Z"),
        ("America/New_York", "2026-03-29T08:00:00Z"),
    ],
)
def test_tomorrow_keeps_the_wall_clock_time_of_the_sender_or_the_task(
    sender_timezone: str | None, due_at: str
) -> None:
    delivered_at = parse_instant("2026-03-28T08:00:00Z")
    task = claim_task(a_task(due_at=delivered_at, timezone="Europe/Berlin"), at=delivered_at)
    harness = ChatHarness(run_transitions.commit(task, None, at=delivered_at))
    if sender_timezone:
        harness.set_timezone(sender_timezone)
    harness.say(button_command(task, "Tomorrow"), at=delivered_at + 8 * HOUR)
    assert snoozed_copy(harness).due_at == parse_instant(due_at)


@pytest.mark.parametrize("length", ["20m", "tomorrow", "until friday 9:00"])
def test_the_snooze_reply_uses_the_senders_time_zone(length: str) -> None:
    harness = ChatHarness(a_delivered_reminder(timezone="Europe/Berlin"))
    assert "(Asia/Tokyo): stretch" in harness.set_timezone("Asia/Tokyo").say(
        f"/snooze {SHORT_ID} {length}"
    )


def test_repeated_presses_keep_one_copy_and_the_last_press_wins() -> None:
    harness = ChatHarness(a_delivered_reminder())
    for minutes, command in enumerate([MINUTES_20, MINUTES_20, TOMORROW, HOUR_1]):
        harness.say(command, at=NOW + minutes * MINUTE)
    assert snoozed_copy(harness).due_at == NOW + 3 * MINUTE + HOUR


def test_a_redelivered_press_changes_nothing() -> None:
    harness = ChatHarness(a_delivered_reminder())
    first = harness.say(MINUTES_20, key="same")
    before = snoozed_copy(harness)
    assert harness.say(MINUTES_20, key="same", now=NOW + MINUTE) == first
    assert snoozed_copy(harness) == before


def test_the_original_button_can_snooze_again_after_the_copy_was_delivered() -> None:
    harness = ChatHarness(a_delivered_reminder())
    harness.say(MINUTES_20)
    snoozed_again = snoozed_copy(harness)
    harness.store.tasks[snoozed_again.id] = run_transitions.commit(
        claim_task(snoozed_again, "run-2", at=snoozed_again.due_at), None, at=snoozed_again.due_at
    )
    harness.say(MINUTES_20, at=NOW + HOUR)
    assert sorted(task.due_at for task in harness.tasks) == [
        NOW,
        NOW + 20 * MINUTE,
        NOW + HOUR + 20 * MINUTE,
    ]
    harness.say(HOUR_1, at=NOW + HOUR)
    assert len(harness.tasks) == 3


def test_a_button_works_before_the_worker_commits_the_delivery() -> None:
    harness = ChatHarness(claim_task(a_task(repeat="daily")))
    harness.say(MINUTES_20)
    harness.store.tasks[ID] = a_delivered_reminder(repeat="daily")
    harness.say(HOUR_1)
    assert snoozed_copy(harness).due_at == NOW + HOUR


def test_occurrences_of_a_series_are_snoozed_and_completed_independently() -> None:
    first = a_delivered_reminder(repeat="FREQ=MINUTELY;INTERVAL=30")
    harness = ChatHarness(first)
    harness.say(button_command(first, "1 h"), at=NOW + 10 * MINUTE)
    second = deliver_next(harness, first)
    harness.say(button_command(second, "1 h"), at=NOW + 45 * MINUTE)
    waiting = {task.due_at: task for task in harness.tasks if task.id != ID}
    assert sorted(waiting) == [NOW + 70 * MINUTE, NOW + 105 * MINUTE]
    harness.say(button_command(first, "Done"), at=NOW + 50 * MINUTE)
    after = {task.due_at: task.status for task in harness.tasks if task.id != ID}
    assert after == {
        NOW + 70 * MINUTE: Status.CANCELLED,
        NOW + 105 * MINUTE: Status.PENDING,
    }


def test_an_old_button_snoozes_its_own_occurrence() -> None:
    yesterday = a_delivered_reminder(repeat="daily")
    harness = ChatHarness(yesterday)
    harness.say(button_command(yesterday, "1 h"))
    today = deliver_next(harness, yesterday)
    harness.say(button_command(today, "1 h"), at=NOW + DAY)
    harness.say(button_command(yesterday, "Snooze 20 min"), at=NOW + DAY)
    snoozed_again = sorted(task.due_at for task in harness.tasks if task.id != ID)
    assert snoozed_again == [NOW + DAY + 20 * MINUTE, NOW + DAY + HOUR]


def test_typed_commands_and_legacy_buttons_refer_to_the_last_occurrence() -> None:
    first = a_delivered_reminder(repeat="daily")
    harness = ChatHarness(first)
    harness.say(button_command(first, "1 h"))
    deliver_next(harness, first)
    harness.say(f"/snooze {ID} 1h rang", at=NOW + DAY)
    harness.say(f"/snooze {SHORT_ID} 20m", at=NOW + DAY)
    last = NOW + DAY + 20 * MINUTE
    assert [task.due_at for task in harness.tasks if task.id != ID] == [NOW + HOUR, last]
    harness.say(f"/done {ID}", at=NOW + DAY)
    assert [task.due_at for task in harness.tasks if task.status is Status.CANCELLED] == [last]


@pytest.mark.parametrize("done_command", [DONE_BUTTON, f"/done {ID}"])
def test_copies_created_by_legacy_buttons_are_found(done_command: str) -> None:
    task = a_delivered_reminder(repeat="daily")
    waiting = a_task(id=id_for_key(ID, "snoozed run-1"), due_at=NOW + HOUR)
    harness = ChatHarness(task, waiting)
    harness.say(f"/snooze {ID} 20m rang")
    assert snoozed_copy(harness).due_at == NOW + 20 * MINUTE
    harness.say(f"/done {ID} {encode_ref(NOW - DAY)}")
    deliver_next(harness, task)
    harness.say(f"/done {ID}")
    assert snoozed_copy(harness).status is Status.PENDING
    harness.store.tasks[ID] = task
    harness.say(done_command)
    assert snoozed_copy(harness).status is Status.CANCELLED


def test_an_occurrence_with_milliseconds_in_its_due_time_is_found() -> None:
    delivered_at = NOW + 999 * MINUTE / 60_000
    running = claim_task(a_task(due_at=delivered_at, repeat="daily"), at=delivered_at)
    harness = ChatHarness(run_transitions.commit(running, None, at=delivered_at))
    harness.say(button_command(running, "1 h"), at=delivered_at)
    harness.say(f"/done {SHORT_ID}", at=delivered_at)
    assert snoozed_copy(harness).status is Status.CANCELLED


@pytest.mark.parametrize(
    ("repeat", "label", "after", "next_occurrence"),
    [
        ("daily", "Tomorrow", 5 * HOUR, "Wednesday 18 Feb 2026, 12:00 (UTC)"),
        ("FREQ=HOURLY", "1 h", 59 * MINUTE / 60, "Tuesday 17 Feb 2026, 13:00 (UTC)"),
        ("FREQ=MINUTELY;INTERVAL=20", "Snooze 20 min", 0 * MINUTE, "Tuesday 17 Feb 2026, 12:20"),
    ],
)
def test_a_snooze_until_the_next_occurrence_creates_no_copy(
    repeat: str, label: str, after: timedelta, next_occurrence: str
) -> None:
    series = a_delivered_reminder(repeat=repeat)
    harness = ChatHarness(series)
    harness.say(f"/snooze {ID} 5m rang")
    reply = harness.say(button_command(series, label), at=NOW + after)
    assert reply.startswith(f"Not snoozed, the series comes again on {next_occurrence}")
    assert reply.endswith(": stretch")
    # The later snooze replaces the five-minute one.
    assert snoozed_copy(harness).status is Status.CANCELLED
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
def test_a_snooze_creates_a_copy_if_no_occurrence_is_near(
    fields: dict[str, Any], after: timedelta
) -> None:
    series = replace(a_delivered_reminder(repeat=fields["repeat"]), **fields)
    harness = ChatHarness(series)
    harness.say(button_command(series, "1 h"), at=NOW + after)
    assert snoozed_copy(harness).due_at == NOW + after + HOUR


def test_a_second_snooze_until_the_next_occurrence_creates_no_copy() -> None:
    series = a_delivered_reminder(repeat="FREQ=HOURLY")
    harness = ChatHarness(series)
    harness.say(button_command(series, "Snooze 20 min"), at=NOW + 20 * MINUTE)
    snoozed_again = deliver_next(harness, snoozed_copy(harness))
    reply = harness.say(button_command(snoozed_again, "Snooze 20 min"), at=snoozed_again.due_at)
    assert reply.startswith(
        "Not snoozed, the series comes again on Tuesday 17 Feb 2026, 13:00 (UTC)"
    )
    assert len(harness.tasks) == 2


def test_a_snooze_of_seconds_creates_a_copy_in_a_daily_series() -> None:
    harness = ChatHarness(a_delivered_reminder(repeat="daily"))
    harness.say(f"/snooze {SHORT_ID} 20 seconds", at=NOW + MINUTE / 60)
    assert snoozed_copy(harness).due_at == NOW + 21 * MINUTE / 60


def test_a_typed_snooze_refers_to_the_nearer_occurrence() -> None:
    series = a_delivered_reminder(repeat="FREQ=HOURLY;INTERVAL=2")
    soon, late = NOW + 30 * MINUTE, NOW + 90 * MINUTE
    harness = ChatHarness(series)
    harness.say(f"/snooze {SHORT_ID} 20m", at=soon)
    assert snoozed_copy(harness).due_at == soon + 20 * MINUTE
    harness = ChatHarness(series)
    harness.say(f"/snooze {SHORT_ID} 20m", at=late)
    assert harness.task.due_at == NOW + 2 * HOUR + 20 * MINUTE


def test_a_button_refers_to_its_occurrence_even_if_the_next_is_nearer() -> None:
    series = a_delivered_reminder(repeat="FREQ=HOURLY;INTERVAL=2")
    harness = ChatHarness(series)
    harness.say(MINUTES_20, at=NOW + 90 * MINUTE)
    assert harness.store.get(ID) == series
    assert snoozed_copy(harness).due_at == NOW + 110 * MINUTE


def test_a_press_that_arrives_too_late_is_rejected() -> None:
    harness = ChatHarness(a_delivered_reminder())
    reply = harness.say(MINUTES_20, now=NOW + 26 * MINUTE)
    assert reply.startswith("Your message arrived too late")
    assert harness.task.id == ID


# Pending tasks


def test_a_rejected_snooze_shows_times_in_the_senders_time_zone() -> None:
    harness = ChatHarness(a_task(repeat="daily", due_at=NOW + HOUR)).set_timezone("Asia/Tokyo")
    assert harness.say(f"/snooze {SHORT_ID} 24 hours") == (
        f"Task {SHORT_ID} comes again on Wednesday 18 Feb 2026, 22:00 (Asia/Tokyo): "
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
def test_a_pending_task_is_snoozed_from_its_due_time(length: str, due_at: datetime) -> None:
    harness = ChatHarness(a_task(due_at=NOW + HOUR))
    assert harness.say(f"/snooze {SHORT_ID} {length}").startswith(f"Snoozed {SHORT_ID} until ")
    assert (harness.task.due_at, harness.task.nominal_at) == (due_at, NOW + HOUR)


def test_repeated_snoozes_of_a_pending_task_do_not_add_up() -> None:
    harness = ChatHarness(a_task(due_at=NOW + HOUR))
    for _ in range(3):
        harness.say(f"/snooze {SHORT_ID} 20m")
    assert harness.task.due_at == NOW + HOUR + 20 * MINUTE


def test_a_pending_action_can_be_snoozed_and_a_completed_one_cannot() -> None:
    harness = ChatHarness(an_action(due_at=NOW + HOUR))
    harness.say(f"/snooze {SHORT_ID} 1h")
    assert harness.task.due_at == NOW + 2 * HOUR
    completed = an_action(status=Status.COMPLETED, delivered_at=NOW)
    harness = ChatHarness(replace(completed, run=claim_task(an_action()).run))
    for command in (f"/snooze {SHORT_ID} 1h", HOUR_1):
        assert harness.say(command) == f"Task {SHORT_ID} is completed: it cannot be snoozed."
    assert harness.task.status is Status.COMPLETED


@pytest.mark.parametrize("length", ["soon", "rang", "every day", "-5m", "at 5", "999999 days"])
def test_an_invalid_snooze_length_gets_a_question(length: str) -> None:
    task = a_task(due_at=NOW + HOUR)
    harness = ChatHarness(task)
    reply = harness.say(f"/snooze {SHORT_ID} {length}")
    assert reply.endswith((".", "?", "Example: /snooze a1b2c3d4 20 minutes"))
    assert harness.task == task


@pytest.mark.parametrize("status", [Status.CANCELLED, Status.FAILED, Status.BLOCKED])
def test_an_undelivered_task_in_a_final_status_cannot_be_snoozed(status: Status) -> None:
    harness = ChatHarness(a_task(status=status))
    assert (
        harness.say(f"/snooze {SHORT_ID} 1h")
        == f"Task {SHORT_ID} is {status}: it cannot be snoozed."
    )


# Done


def test_done_cancels_the_snoozed_copy() -> None:
    harness = ChatHarness(a_delivered_reminder(description="pay"))
    harness.say(MINUTES_20)
    assert harness.say(DONE_BUTTON) == "Done: pay"
    assert snoozed_copy(harness).status is Status.CANCELLED
    assert harness.store.get(ID).status is Status.DELIVERED


def test_done_keeps_the_series_and_the_reply_says_so() -> None:
    series = a_delivered_reminder(repeat="daily")
    harness = ChatHarness(series)
    assert harness.say(DONE_BUTTON) == (
        "Done: stretch\nNext occurrence: Wednesday 18 Feb 2026, 12:00 (UTC)"
    )
    assert harness.task == series


def test_the_done_reply_shows_the_next_occurrence_in_the_senders_time_zone() -> None:
    harness = ChatHarness(a_delivered_reminder(repeat="daily")).set_timezone("Asia/Tokyo")
    assert harness.say(DONE_BUTTON).endswith(
        "Next occurrence: Wednesday 18 Feb 2026, 21:00 (Asia/Tokyo)"
    )


def test_cancelling_a_series_cancels_its_snoozed_copies() -> None:
    first = a_delivered_reminder(repeat="daily", description="pay")
    harness = ChatHarness(first, a_task(id=OTHER_ID, due_at=NOW + HOUR))
    harness.say(button_command(first, "1 h"))
    second = deliver_next(harness, first)
    harness.say(button_command(second, "Snooze 20 min"), at=NOW + DAY)
    assert harness.say(f"/cancel {SHORT_ID}", at=NOW + DAY) == (
        f"Cancelled {SHORT_ID}: pay\nIts snoozed reminders are cancelled too."
    )
    assert [task.id for task in harness.tasks if task.is_open] == [OTHER_ID]
    assert len(harness.tasks) == 4


@pytest.mark.parametrize("command", [DONE_BUTTON, f"/cancel {SHORT_ID}"])
def test_a_copy_that_was_snoozed_twice_is_cancelled_by_the_original_id(command: str) -> None:
    series = a_delivered_reminder(repeat="daily")
    harness = ChatHarness(series)
    harness.say(HOUR_1)
    snoozed_again = deliver_next(harness, snoozed_copy(harness))
    harness.say(button_command(snoozed_again, "1 h"), at=snoozed_again.due_at)
    harness.say(command, at=snoozed_again.due_at)
    statuses = {task.due_at: task.status for task in harness.tasks if task.id != ID}
    assert statuses == {NOW + HOUR: Status.DELIVERED, NOW + 2 * HOUR: Status.CANCELLED}


def test_a_copy_of_a_copy_links_to_the_original_task() -> None:
    harness = ChatHarness(a_delivered_reminder())
    harness.say(HOUR_1)
    snoozed_again = deliver_next(harness, snoozed_copy(harness))
    harness.say(button_command(snoozed_again, "1 h"), at=snoozed_again.due_at)
    assert [task.snooze_of for task in harness.tasks] == [None, ID, ID]
    assert [task.payload for task in harness.tasks] == [{}, {}, {}]


def test_a_snooze_link_from_another_owners_task_is_ignored() -> None:
    series = a_delivered_reminder(repeat="daily")
    foreign_task = a_task(id=OTHER_ID, sender_id="bob", due_at=NOW + HOUR, snooze_of=ID)
    harness = ChatHarness(series, foreign_task)
    assert harness.say(f"/cancel {SHORT_ID}") == f"Cancelled {SHORT_ID}: stretch"
    assert harness.store.get(OTHER_ID) == foreign_task


@pytest.mark.parametrize("command", [DONE_BUTTON, HOUR_1])
def test_another_owners_task_with_the_snooze_id_is_not_changed(command: str) -> None:
    series = a_delivered_reminder(repeat="daily")
    snooze_id = id_for_key(ID, f"snoozed {encode_ref(NOW)}")
    foreign_task = a_task(id=snooze_id, sender_id="bob", due_at=NOW + DAY / 2)
    harness = ChatHarness(series, foreign_task)
    with suppress(IdempotencyConflictError):
        harness.say(command)
    assert harness.store.get(snooze_id) == foreign_task


def test_cancelling_a_copy_keeps_its_series() -> None:
    series = a_delivered_reminder(repeat="daily")
    harness = ChatHarness(series)
    harness.say(HOUR_1)
    snoozed_again = snoozed_copy(harness)
    assert (
        harness.say(f"/cancel {snoozed_again.id}") == f"Cancelled {snoozed_again.short_id}: stretch"
    )
    assert harness.store.get(ID) == series


def test_done_before_the_due_time_cancels_the_reminder() -> None:
    harness = ChatHarness(a_task(due_at=NOW + HOUR))
    assert harness.say(f"/done {SHORT_ID}") == "Done: stretch"
    assert harness.task.status is Status.CANCELLED


def test_done_during_a_run_changes_nothing() -> None:
    running = claim_task(a_task())
    harness = ChatHarness(running)
    assert harness.say(DONE_BUTTON) == "Done: stretch"
    assert harness.task == running


def test_done_on_an_action_suggests_cancel() -> None:
    harness = ChatHarness(an_action())
    assert harness.say(DONE_BUTTON) == f"Task {SHORT_ID} is not a reminder: cancel it instead."
    assert harness.task.status is Status.PENDING
