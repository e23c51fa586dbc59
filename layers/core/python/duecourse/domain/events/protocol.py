"""What listeners say over a WebSocket, and what they are told there."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

from duecourse.domain.errors import InvalidFieldsError
from duecourse.domain.events.connection import WISHES, Subscription
from duecourse.domain.events.event import LiveEvent
from duecourse.domain.tasks.event import EVENT_FAMILIES, EventType
from duecourse.domain.validation.fields import Fields, text
from duecourse.domain.validation.strict_json import read_strictly

SIZE_LIMIT = 4 * 1024  # bytes that a listener may say at once
MOST_TYPES = 50
LARGEST_PUSHED = 100 * 1024  # bytes: API Gateway takes 128 KB
SHORTEST_ID = 8  # with less of an id, too many tasks begin so
_NAME_LIMIT = 200
_SUBSCRIBING = {"action", *WISHES}


@dataclass(frozen=True)
class Ping:
    pass


def read_message(said: str) -> Subscription | Ping:
    """Raises ValueError, in words for whoever said it."""
    if len(said.encode("utf-8", "replace")) > SIZE_LIMIT:
        raise ValueError(f"a message may have {SIZE_LIMIT:,} bytes at most")
    raw = _object(said)
    try:
        match raw.get("action"):
            case "subscribe":
                return _subscription(raw)
            case "ping":
                Fields(raw, known={"action"}).check()
                return Ping()
    except InvalidFieldsError as error:
        raise ValueError(str(error)) from None
    raise ValueError("action: must be one of: ping, subscribe")


def pushed(event: LiveEvent) -> str:
    """An event with more detail than can be sent is told without it: its task can be read."""
    whole = _text(event.to_json())
    if len(whole) <= LARGEST_PUSHED:
        return whole
    return _text(replace(event, detail={"is_cut": True}).to_json())


def answer(kind: str, **detail: Any) -> str:
    return _text({"type": kind, "detail": detail} if detail else {"type": kind})


def subscribed(subscription: Subscription) -> str:
    return _text({"type": "subscribed", "detail": subscription.to_json()})


def _object(said: str) -> dict[str, Any]:
    try:
        raw = read_strictly(said)
    except ValueError:
        raw = None
    if not isinstance(raw, dict):
        raise ValueError('a message must be a JSON object, such as {"action": "ping"}')
    return raw


def _subscription(raw: dict[str, Any]) -> Subscription:
    fields = Fields(raw, known=_SUBSCRIBING)
    wanted = Subscription(
        types=fields.read("types", _types, ()),
        task_id=fields.read("task_id", _task_id, None),
        channel=fields.read("channel", text(_NAME_LIMIT), None),
        sender_id=fields.read("sender_id", text(_NAME_LIMIT), None),
    )
    fields.check()
    return wanted


def _types(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not 0 < len(value) <= MOST_TYPES:
        raise ValueError(f"must be a list of 1 to {MOST_TYPES} types of events")
    known = {*EventType, *EVENT_FAMILIES}
    if any(not isinstance(kind, str) or kind not in known for kind in value):
        families = ", ".join(sorted(EVENT_FAMILIES))
        raise ValueError(f"must be types such as task:failed, or all of a kind: {families}")
    return tuple(dict.fromkeys(value))


def _task_id(value: Any) -> str:
    named = text(_NAME_LIMIT)(value)
    if len(named) < SHORTEST_ID:
        raise ValueError(f"must be an id, or the first {SHORTEST_ID} characters of one or more")
    return named


def _text(told: dict[str, Any]) -> str:
    """In ASCII: so many characters are so many bytes."""
    return json.dumps(told, separators=(",", ":"))
