"""The messages of live clients, and the events sent to them."""

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


def client_message(action: str = "subscribe", **fields: Any) -> str:
    return json.dumps({"action": action, **fields})


def test_a_subscription_is_parsed() -> None:
    other_filters: dict[str, Any] = {"task_id": "0a1b2c3d", "channel": "slack", "sender_id": "U1"}
    message = client_message(types=["task:failed", "breaker:"], **other_filters)
    assert parse_message(message) == Subscription(
        types=("task:failed", "breaker:"), **other_filters
    )


def test_a_missing_or_null_filter_matches_everything() -> None:
    assert parse_message(client_message()) == Subscription()
    assert parse_message(client_message(types=None, task_id=None)) == Subscription()


def test_a_duplicate_type_is_kept_once() -> None:
    assert parse_message(client_message(types=["task:", "task:"])) == Subscription(types=("task:",))


def test_a_ping_is_parsed() -> None:
    assert parse_message(client_message("ping")) == Ping()


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
        (client_message("unsubscribe"), "action: must be one of"),
        ('{"action": ["ping"]}', "action: must be one of"),
        (client_message("ping", extra=1), "extra: unknown field"),
        (client_message(type="task:"), "type: unknown field"),
        (client_message(types="task:failed"), "types: must be a list of 1 to 50"),
        (client_message(types=[]), "types: must be a list of 1 to 50"),
        (client_message(types=["task:"] * (MAX_TYPES + 1)), "types: must be a list of 1 to 50"),
        (client_message(types=["task:exploded"]), "types: must be types such as task:failed"),
        (client_message(types=["t"]), "types: must be types such as task:failed"),
        (client_message(types=[["task:"]]), "types: must be types such as task:failed"),
        (client_message(types=[1]), "types: must be types such as task:failed"),
        (client_message(task_id="0a1b"), "task_id: must be an id, or the first 8 characters"),
        (client_message(task_id=12345678), "task_id: must be a non-empty string"),
        (client_message(channel=""), "channel: must be a non-empty string"),
        (client_message(sender_id="x" * 201), "sender_id: must be at most 200 characters"),
        ('{"action": "subscribe", "sender_id": "\\ud800"}', "sender_id: must be valid Unicode"),
        ('"' + "x" * SIZE_LIMIT, "4,096 bytes at most"),
        ('"' + "é" * (SIZE_LIMIT // 2), "4,096 bytes at most"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_an_invalid_message_is_rejected_with_the_problem(message: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        parse_message(message)


def test_a_message_of_exactly_the_size_limit_is_parsed() -> None:
    padded = client_message("ping").ljust(SIZE_LIMIT)
    assert parse_message(padded) == Ping()


def test_an_encoded_event_contains_its_id() -> None:
    data = json.loads(encode_event(an_event(detail={"error": "à la carte"})))
    assert data["detail"] == {"error": "à la carte", "event_id": "1"}


def test_an_oversized_event_is_sent_without_its_detail() -> None:
    text = encode_event(an_event(detail={"error": "é" * MAX_PUSH_BYTES}))
    assert len(text.encode()) < MAX_PUSH_BYTES
    assert json.loads(text)["detail"] == {"is_cut": True, "event_id": "1"}
