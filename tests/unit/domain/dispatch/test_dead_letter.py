"""Dead letters: their cause and their stored form."""

from __future__ import annotations

import json
from typing import Any

import pytest
from duecourse.domain.dispatch.dead_letter import BODY_LIMIT, Cause, DeadLetter, Queue, parse_cause

from tests.support.builders.moments import NOW


def a_dead_letter(**fields: Any) -> DeadLetter:
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
def test_the_cause_is_parsed_from_the_lambda_error(
    code: str | None, message: str | None, cause: Cause
) -> None:
    assert parse_cause(code, message) is cause


@pytest.mark.parametrize("message", ["KeyError: 'order-14290'", "ValueError: 1-67429abc-0"])
def test_a_number_in_a_crash_message_is_not_a_throttle(message: str) -> None:
    assert parse_cause("200", message) is Cause.CRASH


@pytest.mark.parametrize("is_truncated", [False, True])
@pytest.mark.parametrize("task_id", [None, "x"])
@pytest.mark.parametrize("queue", Queue)
def test_a_dead_letter_round_trips_through_json(
    queue: Queue, task_id: str | None, is_truncated: bool
) -> None:
    dead_letter = a_dead_letter(
        queue=queue, cause=Cause.TIMEOUT, task_id=task_id, is_truncated=is_truncated
    )
    assert DeadLetter.from_json(json.loads(json.dumps(dead_letter.to_json()))) == dead_letter


def test_a_stored_dead_letter_without_task_id_and_was_cut_loads() -> None:
    stored = a_dead_letter(reason="it cannot be read").to_json()
    del stored["task_id"], stored["was_cut"]
    assert DeadLetter.from_json(stored) == a_dead_letter(reason="it cannot be read")


@pytest.mark.parametrize("queue", Queue)
def test_a_dead_letter_of_every_queue_can_be_redriven(queue: Queue) -> None:
    assert a_dead_letter(queue=queue).can_redrive


# Truncation


def test_a_dead_letter_is_stored_with_its_reason() -> None:
    assert a_dead_letter().prepare_for_storage("no task", task_id="x") == a_dead_letter(
        reason="no task", task_id="x"
    )


@pytest.mark.parametrize("character", ["x", '"', "é", "€", "😀", "\0", "\ud800"])
def test_a_body_is_truncated_at_the_storage_limit(character: str) -> None:
    character_size = len(json.dumps(character)) - 2
    max_length = (BODY_LIMIT - 2) // character_size
    complete, truncated = (
        a_dead_letter(body=character * n).prepare_for_storage("long")
        for n in (max_length, max_length + 1)
    )
    assert (len(complete.body), complete.is_truncated, complete.can_redrive) == (
        max_length,
        False,
        True,
    )
    assert (len(truncated.body), truncated.is_truncated, truncated.can_redrive) == (
        max_length,
        True,
        False,
    )


@pytest.mark.parametrize("character", ["x", '"', "😀"])
def test_a_stored_dead_letter_is_smaller_than_200_kb(character: str) -> None:
    dead_letter = a_dead_letter(body=character * 1_000_000).prepare_for_storage(
        f"there is no task {'x' * 100}"
    )
    assert len(json.dumps(dead_letter.to_json())) < 200_000


def test_a_truncated_dead_letter_stays_truncated() -> None:
    dead_letter = a_dead_letter(body="x", is_truncated=True).prepare_for_storage(
        "it cannot be read"
    )
    assert dead_letter.is_truncated
