"""The buttons of chat messages, and the commands they send."""

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


def an_indeterminate_action(**fields: Any) -> Task:
    mutation = Mutation(idempotency_key="k", status=MutationStatus.INDETERMINATE)
    run = replace(
        a_run(mutation=mutation, indeterminate_policy=IndeterminatePolicy.ASK_PERSON), ended_at=NOW
    )
    return an_action(run=run, **fields)


def labels(buttons: tuple[Button, ...]) -> list[str]:
    return [button.label for button in buttons]


def test_a_reminder_has_done_and_snooze_buttons() -> None:
    assert reminder_buttons(a_task()) == (
        Button("Done", f"/done {ID} @69945840"),
        Button("Snooze 20 min", f"/snooze {ID} 20m @69945840"),
        Button("1 h", f"/snooze {ID} 1h @69945840"),
        Button("Tomorrow", f"/snooze {ID} tomorrow @69945840"),
    )


def test_a_make_up_run_has_the_buttons_of_the_missed_occurrence() -> None:
    late_run = a_task(repeat="daily", due_at=NOW + DAY, run=a_run(nominal_at=NOW))
    assert reminder_buttons(late_run) == reminder_buttons(a_task())


def test_button_commands_fit_due_times_of_the_year_4000() -> None:
    last_task = a_task(due_at=datetime(4000, 1, 1, tzinfo=UTC))
    [longest] = [
        button.command for button in reminder_buttons(last_task) if button.label == "Tomorrow"
    ]
    assert len(longest.encode()) == COMMAND_LIMIT
    assert parse_command(longest) == Snooze(ID, "tomorrow", OccurrenceRef(last_task.due_at))


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
def test_a_failure_has_only_buttons_for_actions_that_the_task_allows(
    fields: dict[str, Any], expected: list[str]
) -> None:
    assert labels(failure_buttons(an_action(**fields))) == expected


def test_an_unknown_outcome_has_three_resolution_buttons() -> None:
    assert resolution_buttons(an_indeterminate_action(status=Status.BLOCKED)) == (
        Button("It happened", f"/resolve {ID} applied"),
        Button("It did not happen", f"/resolve {ID} not_applied"),
        Button("Skip", f"/resolve {ID} skip"),
    )


def test_a_paused_series_has_no_not_applied_button() -> None:
    assert labels(resolution_buttons(an_indeterminate_action(repeat="daily", paused=True))) == [
        "It happened",
        "Skip",
    ]


def test_work_can_be_approved_or_rejected_without_a_reason() -> None:
    assert verification_buttons(an_action()) == (
        Button("Approve", f"/approve {ID}"),
        Button("Reject", f"/reject {ID} no reason given"),
    )


def test_every_button_sends_a_valid_command_within_the_size_limit() -> None:
    blocked = an_action(status=Status.BLOCKED)
    buttons = [
        *reminder_buttons(a_task()),
        *failure_buttons(blocked),
        *resolution_buttons(an_indeterminate_action(status=Status.BLOCKED)),
        *verification_buttons(blocked),
    ]
    assert len(buttons) == 11
    for button in buttons:
        assert not isinstance(parse_command(button.command), Help)
        assert len(button.command.encode()) <= COMMAND_LIMIT
