"""Waits as stored, and what is made of the sentences that older code stored."""

from __future__ import annotations

from typing import Any

import pytest
from duecourse.adapters.dynamodb.items import TaskItem
from duecourse.adapters.dynamodb.stored_wait import read_wait, upgrade_run, wait_to_attributes
from duecourse.domain.wait import Wait, WaitReason
from duecourse.domain.wire import run_from_stored, run_to_stored

from tests.unit.builders import HOUR, NOW, a_run

AT = "2026-02-17T13:00:00.000Z"
LATER = NOW + HOUR
MONEY = (
    "budget daily has 0.5 of 5 dollars left for 2026-02-17 and the call may cost 0.75: "
    f"it is whole again at {AT}"
)
OLD_SENTENCES = [
    (
        "quiet hours until 07:00 (Europe/Berlin)",
        Wait(WaitReason.QUIET_HOURS, None, {"end": "07:00", "zone": "Europe/Berlin"}),
    ),
    ("somebody to say whether it was done well", Wait(WaitReason.VERIFICATION)),
    ("its verifier to say whether it was done well", Wait(WaitReason.VERIFIER)),
    ("its message died before a worker took it: it was sent again", Wait(WaitReason.REQUEUED)),
    (
        "50 other retries wait: it comes after them",
        Wait(WaitReason.RETRY_THROTTLE, None, {"limit": 50}),
    ),
    (
        "the review of its specification, task 0a1b2c3d",
        Wait(WaitReason.SPEC_REVIEW, None, {"review_task_id": "0a1b2c3d"}),
    ),
    (
        f"provider openai is down: tried again from {AT} on",
        Wait(WaitReason.CIRCUIT_BREAKER, LATER, {"provider": "openai"}),
    ),
    (
        f"subject story 1 was tried in vain: not again before {AT}",
        Wait(WaitReason.SUBJECT_COOLDOWN, LATER, {"subject": "story 1"}),
    ),
    (
        f"budget daily is used up for today: it is whole again at {AT}",
        Wait(WaitReason.BUDGET, LATER, {"budget": "daily"}),
    ),
    (MONEY, Wait(WaitReason.BUDGET, None, {"budget": "daily", "message": MONEY})),
    ("better days", Wait(WaitReason.OTHER, None, {"message": "better days"})),
]


def an_item(**attributes: Any) -> TaskItem:
    return TaskItem("0a1b2c3d", "0a1b2c3d-0000", **attributes)


@pytest.mark.parametrize(("sentence", "wait"), OLD_SENTENCES)
def test_an_older_item_waits_for_what_its_sentence_says(sentence: str, wait: Wait) -> None:
    assert read_wait(an_item(waits_for=sentence)) == wait


def test_an_older_item_may_wait_for_money_in_anybodys_words() -> None:
    item = an_item(waits_for="insufficient quota", recovery_action="wait_for_budget")
    assert read_wait(item) == Wait(WaitReason.BUDGET, None, {"message": "insufficient quota"})


def test_an_item_without_either_waits_for_nothing() -> None:
    assert read_wait(an_item()) is None


@pytest.mark.parametrize("wait", [wait for _, wait in OLD_SENTENCES])
def test_a_stored_wait_is_read_back_as_it_was(wait: Wait) -> None:
    stored = {name: value for name, value in wait_to_attributes(wait).items() if value is not None}
    assert read_wait(an_item(**stored)) == wait


def test_of_a_task_that_does_not_wait_nothing_is_stored() -> None:
    assert wait_to_attributes(None) == {}


@pytest.mark.parametrize(("sentence", "wait"), OLD_SENTENCES)
def test_an_older_run_waited_for_what_its_sentence_says(sentence: str, wait: Wait) -> None:
    stored = {**run_to_stored(a_run()), "waited_for": sentence}
    assert run_from_stored(upgrade_run(stored)).waited_for == wait


@pytest.mark.parametrize("wait", [None, Wait(WaitReason.BUDGET, LATER)])
def test_a_run_of_today_is_read_as_it_is(wait: Wait | None) -> None:
    run = a_run(waited_for=wait)
    assert run_from_stored(upgrade_run(run_to_stored(run))) == run
