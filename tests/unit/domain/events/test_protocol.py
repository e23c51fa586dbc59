"""What listeners may say, and what they are told."""

from __future__ import annotations

import json
from typing import Any

import pytest
from duecourse.domain.events.connection import Subscription
from duecourse.domain.events.protocol import (
    MAX_PUSH_BYTES,
    MAX_TYPES,
    SIZE_LIMIT,
    Ping,
    encode_event,
    parse_message,
)

from tests.unit.domain.events.test_connection import an_event


def said(action: str = "subscribe", **fields: Any) -> str:
    return json.dumps({"action": action, **fields})


def test_a_subscription_is_read() -> None:
    others: dict[str, Any] = {"task_id": "0a1b2c3d", "channel": "slack", "sender_id": "U1"}
    message = said(types=["task:failed", "breaker:"], **others)
    assert parse_message(message) == Subscription(types=("task:failed", "breaker:"), **others)


def test_what_is_left_out_or_null_is_everything() -> None:
    assert parse_message(said()) == Subscription()
    assert parse_message(said(types=None, task_id=None)) == Subscription()


def test_a_type_named_twice_is_heard_once() -> None:
    assert parse_message(said(types=["task:", "task:"])) == Subscription(types=("task:",))


def test_a_ping_is_read() -> None:
    assert parse_message(said("ping")) == Ping()


@pytest.mark.parametrize(
    ("message", "problem"),
    [
        ("", "must be a JSON object"),
        ("ping", "must be a JSON object"),
        ("[]", "must be a JSON object"),
        ('"subscribe"', "must be a JSON object"),
        ("[" * 4_000, "must be a JSON object"),
        ('{"action": "ping", "action": "ping"}', "must be a JSON object"),
        ('{"action": NaN}', "must be a JSON object"),
        ("{}", "action: must be one of: ping, subscribe"),
        (said("unsubscribe"), "action: must be one of"),
        ('{"action": ["ping"]}', "action: must be one of"),
        (said("ping", extra=1), "extra: unknown field"),
        (said(type="task:"), "type: unknown field"),
        (said(types="task:failed"), "types: must be a list of 1 to 50"),
        (said(types=[]), "types: must be a list of 1 to 50"),
        (said(types=["task:"] * (MAX_TYPES + 1)), "types: must be a list of 1 to 50"),
        (said(types=["task:exploded"]), "types: must be types such as task:failed"),
        (said(types=["t"]), "types: must be types such as task:failed"),
        (said(types=[["task:"]]), "types: must be types such as task:failed"),
        (said(types=[1]), "types: must be types such as task:failed"),
        (said(task_id="0a1b"), "task_id: must be an id, or the first 8 characters"),
        (said(task_id=12345678), "task_id: must be a non-empty string"),
        (said(channel=""), "channel: must be a non-empty string"),
        (said(sender_id="x" * 201), "sender_id: must be at most 200 characters"),
        ('{"action": "subscribe", "sender_id": "\\ud800"}', "sender_id: must be valid Unicode"),
        ('"' + "x" * SIZE_LIMIT, "4,096 bytes at most"),
        ('"' + "é" * (SIZE_LIMIT // 2), "4,096 bytes at most"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_anything_else_is_refused_in_words(message: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        parse_message(message)


def test_a_message_of_just_the_limit_is_read() -> None:
    padded = said("ping").ljust(SIZE_LIMIT)
    assert parse_message(padded) == Ping()


def test_an_event_is_told_with_its_id() -> None:
    told = json.loads(encode_event(an_event(detail={"error": "à la carte"})))
    assert told["detail"] == {"error": "à la carte", "event_id": "1"}


def test_an_event_too_large_to_be_sent_is_told_without_its_detail() -> None:
    text = encode_event(an_event(detail={"error": "é" * MAX_PUSH_BYTES}))
    assert len(text.encode()) < MAX_PUSH_BYTES
    assert json.loads(text)["detail"] == {"is_cut": True, "event_id": "1"}
