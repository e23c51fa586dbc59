"""The buttons under what people are told: which there are, and what they say."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from duecourse.domain.chat.buttons import (
    COMMAND_LIMIT,
    failure_buttons,
    reminder_buttons,
    resolution_buttons,
    verification_buttons,
)
from duecourse.domain.chat.chat_message import Button
from duecourse.domain.chat.commands import Help, Snooze
from duecourse.domain.chat.occurrence_ref import OccurrenceRef
from duecourse.domain.chat.parse_command import parse_command
from duecourse.domain.tasks.run import IndeterminatePolicy, Mutation, MutationStatus
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task

from tests.support.builders.moments import DAY, NOW
from tests.support.builders.runs import a_run
from tests.support.builders.tasks import ID, a_task, an_action


def in_doubt(**fields: Any) -> Task:
    mutation = Mutation(idempotency_key="k", status=MutationStatus.INDETERMINATE)
    run = replace(
        a_run(mutation=mutation, indeterminate_policy=IndeterminatePolicy.ASK_PERSON), ended_at=NOW
    )
    return an_action(run=run, **fields)


def labels(buttons: tuple[Button, ...]) -> list[str]:
    return [button.label for button in buttons]


def test_a_reminder_can_be_done_or_put_off() -> None:
    assert reminder_buttons(a_task()) == (
        Button("Done", f"/done {ID} @69945840"),
        Button("Snooze 20 min", f"/snooze {ID} 20m @69945840"),
        Button("1 h", f"/snooze {ID} 1h @69945840"),
        Button("Tomorrow", f"/snooze {ID} tomorrow @69945840"),
    )


def test_what_is_made_up_for_later_is_still_the_occurrence_that_was_missed() -> None:
    late = a_task(repeat="daily", due_at=NOW + DAY, run=a_run(nominal_at=NOW))
    assert reminder_buttons(late) == reminder_buttons(a_task())


def test_buttons_have_room_for_the_times_of_two_thousand_years() -> None:
    last = a_task(due_at=datetime(4000, 1, 1, tzinfo=UTC))
    [longest] = [one.command for one in reminder_buttons(last) if one.label == "Tomorrow"]
    assert len(longest.encode()) == COMMAND_LIMIT
    assert parse_command(longest) == Snooze(ID, "tomorrow", OccurrenceRef(last.due_at))


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"status": Status.BLOCKED}, ["Retry now", "Cancel"]),
        ({"status": Status.PENDING, "next_retry_at": NOW}, ["Retry now", "Cancel"]),
        ({"status": Status.FAILED}, ["Retry now"]),
        ({"status": Status.PENDING, "repeat": "daily"}, ["Cancel"]),
        ({"status": Status.PENDING, "next_retry_at": NOW, "paused": True}, ["Cancel"]),
        ({"status": Status.COMPLETED}, []),
    ],
)
def test_a_failure_offers_only_what_the_task_does_not_refuse(
    fields: dict[str, Any], expected: list[str]
) -> None:
    assert labels(failure_buttons(an_action(**fields))) == expected


def test_whether_it_happened_can_be_answered_three_ways() -> None:
    assert resolution_buttons(in_doubt(status=Status.BLOCKED)) == (
        Button("It happened", f"/resolve {ID} applied"),
        Button("It did not happen", f"/resolve {ID} not_applied"),
        Button("Skip", f"/resolve {ID} skip"),
    )


def test_a_series_that_is_paused_is_not_made_up_for() -> None:
    assert labels(resolution_buttons(in_doubt(repeat="daily", paused=True))) == [
        "It happened",
        "Skip",
    ]


def test_work_can_be_approved_or_rejected_without_a_reason() -> None:
    assert verification_buttons(an_action()) == (
        Button("Approve", f"/approve {ID}"),
        Button("Reject", f"/reject {ID} no reason given"),
    )


def test_every_button_says_a_command_that_is_understood_and_short_enough() -> None:
    blocked = an_action(status=Status.BLOCKED)
    buttons = [
        *reminder_buttons(a_task()),
        *failure_buttons(blocked),
        *resolution_buttons(in_doubt(status=Status.BLOCKED)),
        *verification_buttons(blocked),
    ]
    assert len(buttons) == 11
    for button in buttons:
        assert not isinstance(parse_command(button.command), Help)
        assert len(button.command.encode()) <= COMMAND_LIMIT
