"""The reasons why tasks wait, and the sentences that describe them."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from duecourse.domain.tasks.wait import Wait, WaitReason
from duecourse.domain.tasks.wait_text import describe_wait

from tests.support.builders.moments import HOUR, NOW

LATER = NOW + HOUR
DESCRIPTIONS = {
    WaitReason.BUDGET: (
        Wait(WaitReason.BUDGET, LATER, {"budget": "daily"}),
        "budget daily is used up for today: it resets at 2026-02-17T13:00:00.000Z",
    ),
    WaitReason.CIRCUIT_BREAKER: (
        Wait(WaitReason.CIRCUIT_BREAKER, LATER, {"provider": "openai"}),
        "provider openai is down: next try at 2026-02-17T13:00:00.000Z",
    ),
    WaitReason.QUIET_HOURS: (
        Wait(WaitReason.QUIET_HOURS, LATER, {"end": "07:00", "zone": "Europe/Berlin"}),
        "quiet hours until 07:00 (Europe/Berlin)",
    ),
    WaitReason.REQUEUED: (
        Wait(WaitReason.REQUEUED),
        "its message was dead-lettered before a worker claimed it: it was requeued",
    ),
    WaitReason.RETRY_THROTTLE: (
        Wait(WaitReason.RETRY_THROTTLE, LATER, {"limit": 50}),
        "50 other retries are pending: it runs after them",
    ),
    WaitReason.SPEC_REVIEW: (
        Wait(WaitReason.SPEC_REVIEW, task_id="0a1b2c3d-0000-4000-8000-00"),
        "the review of its specification, task 0a1b2c3d",
    ),
    WaitReason.SUBJECT_COOLDOWN: (
        Wait(WaitReason.SUBJECT_COOLDOWN, LATER, {"subject": "story-1"}),
        "subject story-1 cools down: next try at 2026-02-17T13:00:00.000Z",
    ),
    WaitReason.VERIFICATION: (
        Wait(WaitReason.VERIFICATION, LATER),
        "a person to approve or reject its work",
    ),
    WaitReason.VERIFIER: (
        Wait(WaitReason.VERIFIER, LATER, {"provider": "openai"}),
        "its verifier to approve or reject its work",
    ),
    WaitReason.OTHER: (
        Wait(WaitReason.OTHER, None, {"message": "better days"}),
        "better days",
    ),
}


@pytest.mark.parametrize("reason", WaitReason)
def test_every_reason_has_a_sentence(reason: WaitReason) -> None:
    wait, sentence = DESCRIPTIONS[reason]
    assert (wait.reason, describe_wait(wait)) == (reason, sentence)


def test_the_message_of_a_provider_out_of_budget_is_quoted() -> None:
    detail = {"budget": "daily", "message": "insufficient quota"}
    assert describe_wait(Wait(WaitReason.BUDGET, LATER, detail)) == "insufficient quota"


@pytest.mark.parametrize("reason", WaitReason)
def test_a_wait_without_detail_has_a_description(reason: WaitReason) -> None:
    assert describe_wait(Wait(reason))


def test_a_task_without_a_wait_has_no_description() -> None:
    assert describe_wait(None) is None


@pytest.mark.parametrize("reason", WaitReason)
def test_a_wait_round_trips_through_json(reason: WaitReason) -> None:
    wait, _ = DESCRIPTIONS[reason]
    assert Wait.from_json(json.loads(json.dumps(wait.to_json()))) == wait


def test_the_end_of_a_wait_is_rounded_down_to_milliseconds() -> None:
    assert Wait(WaitReason.BUDGET, LATER + timedelta(microseconds=7)).until == LATER
