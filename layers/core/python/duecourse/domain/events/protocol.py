"""Messages over the WebSocket: what clients may send, and what they receive."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

from duecourse.domain.errors import InvalidFieldsError
from duecourse.domain.events.connection import SUBSCRIPTION_FIELDS, Subscription
from duecourse.domain.events.event import LiveEvent
from duecourse.domain.tasks.event import EVENT_FAMILIES, EventType
from duecourse.domain.validation.fields import Fields, text_field
from duecourse.domain.validation.strict_json import parse_strict_json

SIZE_LIMIT = 4 * 1024  # bytes in one client message
MAX_TYPES = 50
MAX_PUSH_BYTES = 100 * 1024  # API Gateway's limit is 128 KB
MIN_ID_LENGTH = 8  # shorter prefixes match too many tasks
_NAME_LIMIT = 200
_SUBSCRIBE_FIELDS = {"action", *SUBSCRIPTION_FIELDS}


@dataclass(frozen=True)
class Ping:
    pass


def parse_message(text: str) -> Subscription | Ping:
    """Parse a client's message. Raises ValueError with a message for the client."""
    if len(text.encode("utf-8", "replace")) > SIZE_LIMIT:
        raise ValueError(f"a message may have {SIZE_LIMIT:,} bytes at most")
    raw = _parse_object(text)
    try:
        match raw.get("action"):
            case "subscribe":
                return _parse_subscription(raw)
            case "ping":
                Fields(raw, allowed={"action"}).raise_if_invalid()
                return Ping()
    except InvalidFieldsError as error:
        raise ValueError(str(error)) from None
    raise ValueError("action: must be one of: ping, subscribe")


def encode_event(event: LiveEvent) -> str:
    """Return the event as JSON text. If it is too large, it is sent without its detail."""
    whole = _to_json_text(event.to_json())
    if len(whole) <= MAX_PUSH_BYTES:
        return whole
    return _to_json_text(replace(event, detail={"is_cut": True}).to_json())


def encode_reply(kind: str, **detail: Any) -> str:
    return _to_json_text({"type": kind, "detail": detail} if detail else {"type": kind})


def encode_subscribed(subscription: Subscription) -> str:
    return _to_json_text({"type": "subscribed", "detail": subscription.to_json()})


def _parse_object(text: str) -> dict[str, Any]:
    try:
        raw = parse_strict_json(text)
    except ValueError:
        raw = None
    if not isinstance(raw, dict):
        raise ValueError('a message must be a JSON object, such as {"action": "ping"}')
    return raw


def _parse_subscription(raw: dict[str, Any]) -> Subscription:
    fields = Fields(raw, allowed=_SUBSCRIBE_FIELDS)
    subscription = Subscription(
        types=fields.read("types", _parse_types, ()),
        task_id=fields.read("task_id", _parse_task_id, None),
        channel=fields.read("channel", text_field(_NAME_LIMIT), None),
        sender_id=fields.read("sender_id", text_field(_NAME_LIMIT), None),
    )
    fields.raise_if_invalid()
    return subscription


def _parse_types(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not 0 < len(value) <= MAX_TYPES:
        raise ValueError(f"must be a list of 1 to {MAX_TYPES} types of events")
    known = {*EventType, *EVENT_FAMILIES}
    if any(not isinstance(kind, str) or kind not in known for kind in value):
        families = ", ".join(sorted(EVENT_FAMILIES))
        raise ValueError(f"must be types such as task:failed, or all of a kind: {families}")
    return tuple(dict.fromkeys(value))


def _parse_task_id(value: Any) -> str:
    named = text_field(_NAME_LIMIT)(value)
    if len(named) < MIN_ID_LENGTH:
        raise ValueError(f"must be an id, or the first {MIN_ID_LENGTH} characters of one or more")
    return named


def _to_json_text(content: dict[str, Any]) -> str:
    """Return compact JSON in ASCII, so that its length is its size in bytes."""
    return json.dumps(content, separators=(",", ":"))
