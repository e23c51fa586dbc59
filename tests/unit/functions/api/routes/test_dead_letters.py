"""How a dead letter is listed."""

from __future__ import annotations

from typing import Any

import pytest
from duecourse.domain.dispatch.dead_letter import Cause, DeadLetter, Queue
from duecourse.domain.text.redaction import REDACTED

from functions.api.routes.dead_letters import LISTED_BODY_LIMIT, letter_to_json
from tests.support.builders.moments import NOW

SECRET = "sk-" + "a1B2" * 12


def list_letter(body: str, **fields: Any) -> dict[str, Any]:
    letter = DeadLetter(id="letter-1", queue=Queue.WORK, body=body, sent_at=NOW, **fields)
    return letter_to_json(letter)


def test_a_listing_contains_every_field() -> None:
    assert list_letter("hello", cause=Cause.CRASH, reason="it cannot be read") == {
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
def test_a_long_body_is_truncated_only_in_the_listing(length: int, is_cut: bool) -> None:
    listing = list_letter("é" * length)

    assert (listing["body"], listing["body_cut"]) == ("é" * 2_000, is_cut)
    assert (listing["was_cut"], listing["can_be_redriven"]) == (False, True)


def test_a_body_that_was_stored_incomplete_is_marked() -> None:
    assert list_letter("x", is_truncated=True)["body_cut"]


def test_a_body_is_complete_if_only_its_secrets_made_it_long() -> None:
    listing = list_letter(f"{SECRET} " * 50)

    assert (listing["body"], listing["body_cut"]) == (f"{REDACTED} " * 50, False)


@pytest.mark.parametrize("start", [0, LISTED_BODY_LIMIT - len(SECRET) // 2, LISTED_BODY_LIMIT])
def test_no_part_of_a_secret_is_listed(start: int) -> None:
    body = list_letter(" " * start + SECRET)["body"]

    assert SECRET[:8] not in body
    assert body.strip() == REDACTED[: LISTED_BODY_LIMIT - start]
