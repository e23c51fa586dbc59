"""A message that nobody could process: why it died, and what is kept of it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from duecourse.domain.dispatch.dead_letter import BODY_LIMIT, Cause, DeadLetter, Queue, parse_cause

from tests.support.builders.moments import NOW


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
    assert parse_cause(code, message) is cause


@pytest.mark.parametrize("message", ["KeyError: 'order-14290'", "ValueError: 1-67429abc-0"])
def test_a_number_in_what_a_crash_says_is_no_throttle(message: str) -> None:
    assert parse_cause("200", message) is Cause.CRASH


@pytest.mark.parametrize("was_cut", [False, True])
@pytest.mark.parametrize("task_id", [None, "x"])
@pytest.mark.parametrize("queue", Queue)
def test_a_letter_that_is_kept_is_read_back_as_it_was(
    queue: Queue, task_id: str | None, was_cut: bool
) -> None:
    letter = a_letter(queue=queue, cause=Cause.TIMEOUT, task_id=task_id, is_truncated=was_cut)
    assert DeadLetter.from_json(json.loads(json.dumps(letter.to_json()))) == letter


def test_a_letter_from_before_there_were_missing_tasks_and_cuts_is_read_all_the_same() -> None:
    stored = a_letter(reason="it cannot be read").to_json()
    del stored["task_id"], stored["was_cut"]
    assert DeadLetter.from_json(stored) == a_letter(reason="it cannot be read")


def test_a_letter_is_shown_with_all_that_is_known_of_it() -> None:
    assert a_letter(
        body="hello", cause=Cause.CRASH, reason="it cannot be read"
    ).to_listing_json() == {
        "id": "letter-1",
        "queue": "work",
        "body": "hello",
        "body_cut": False,
        "sent_at": "2026-02-17T12:00:00.000Z",
        "cause": "crash",
        "reason": "it cannot be read",
        "task_id": None,
        "was_cut": False,
        "can_be_redriven": True,
    }


@pytest.mark.parametrize(("length", "is_cut"), [(2_000, False), (2_001, True), (90_000, True)])
def test_a_long_body_is_shown_in_part_and_kept_whole(length: int, is_cut: bool) -> None:
    letter = a_letter(body="é" * length)
    shown = letter.to_listing_json()
    assert (shown["body"], shown["body_cut"]) == ("é" * 2_000 if is_cut else letter.body, is_cut)
    assert (shown["was_cut"], shown["can_be_redriven"]) == (False, True)


@pytest.mark.parametrize(
    ("queue", "can_be"),
    [
        (Queue.WORK, True),
        (Queue.FAILURES, True),
        (Queue.NOTIFICATIONS, True),
        (Queue.JOURNAL, False),
    ],
)
def test_what_died_behind_the_stream_cannot_go_back(queue: Queue, can_be: bool) -> None:
    assert a_letter(queue=queue).can_redrive is can_be


# What is too long to be kept whole


def test_a_letter_is_kept_with_its_reason() -> None:
    assert a_letter().prepare_for_storage("no task", task_id="x") == a_letter(
        reason="no task", task_id="x"
    )


@pytest.mark.parametrize("character", ["x", '"', "é", "€", "😀", "\0", "\ud800"])
def test_as_much_is_kept_as_can_be_stored_and_not_a_character_more(character: str) -> None:
    one = len(json.dumps(character)) - 2
    most = (BODY_LIMIT - 2) // one
    whole, longer = (
        a_letter(body=character * n).prepare_for_storage("long") for n in (most, most + 1)
    )
    assert (len(whole.body), whole.is_truncated, whole.can_redrive) == (most, False, True)
    assert (len(longer.body), longer.is_truncated, longer.can_redrive) == (most, True, False)


@pytest.mark.parametrize("character", ["x", '"', "😀"])
def test_however_long_a_letter_was_it_is_stored_in_200_kb(character: str) -> None:
    letter = a_letter(body=character * 1_000_000).prepare_for_storage(
        f"there is no task {'x' * 100}"
    )
    assert len(json.dumps(letter.to_json())) < 200_000


def test_a_letter_that_was_cut_stays_so() -> None:
    letter = a_letter(body="x", is_truncated=True).prepare_for_storage("it cannot be read")
    assert (letter.is_truncated, letter.to_listing_json()["body_cut"]) == (True, True)
