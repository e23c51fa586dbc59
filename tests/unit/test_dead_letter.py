"""A message that nobody could process: why it died, and what is kept of it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from duecourse.domain.dead_letter import Cause, DeadLetter, Queue, cause_from

from tests.unit.builders import NOW


def a_letter(**fields: Any) -> DeadLetter:
    defaults = {"id": "letter-1", "queue": Queue.WORK, "body": "{}", "sent_at": NOW}
    return DeadLetter(**{**defaults, **fields})


@pytest.mark.parametrize(
    ("code", "message", "cause"),
    [
        (None, None, Cause.UNKNOWN),
        ("", "", Cause.UNKNOWN),
        (" ", " ", Cause.UNKNOWN),
        ("200", "2026-02-17T12:00:00Z 1-2 Task timed out after 3.00 seconds", Cause.TIMEOUT),
        ("429", "Rate Exceeded.", Cause.THROTTLE),
        ("429", None, Cause.THROTTLE),
        (None, "Rate exceeded", Cause.THROTTLE),
        (None, "ThrottlingException", Cause.THROTTLE),
        ("200", "KeyError: 'task_id'", Cause.CRASH),
        ("200", "Runtime exited with error: signal: killed", Cause.CRASH),
        ("500", None, Cause.CRASH),
        (None, "Unhandled", Cause.CRASH),
    ],
)
def test_the_cause_is_what_lambda_said(code: str | None, message: str | None, cause: Cause) -> None:
    assert cause_from(code, message) is cause


@pytest.mark.parametrize("message", ["KeyError: 'order-14290'", "ValueError: 1-67429abc-0"])
def test_a_number_in_what_a_crash_says_is_no_throttle(message: str) -> None:
    assert cause_from("200", message) is Cause.CRASH


@pytest.mark.parametrize("reason", [None, "there is no task x"])
@pytest.mark.parametrize("queue", Queue)
def test_a_letter_that_is_kept_is_read_back_as_it_was(queue: Queue, reason: str | None) -> None:
    letter = a_letter(queue=queue, cause=Cause.TIMEOUT, reason=reason)
    assert DeadLetter.from_json(json.loads(json.dumps(letter.to_json()))) == letter


def test_a_letter_is_shown_whole() -> None:
    assert a_letter(body="hello", cause=Cause.CRASH, reason="it cannot be read").to_json() == {
        "id": "letter-1",
        "queue": "work",
        "body": "hello",
        "sent_at": "2026-02-17T12:00:00.000Z",
        "cause": "crash",
        "reason": "it cannot be read",
        "can_be_redriven": True,
    }


@pytest.mark.parametrize(
    ("queue", "can_be"), [(Queue.WORK, True), (Queue.FAILURES, True), (Queue.JOURNAL, False)]
)
def test_what_died_behind_the_stream_cannot_go_back(queue: Queue, can_be: bool) -> None:
    assert a_letter(queue=queue).can_be_redriven is can_be
