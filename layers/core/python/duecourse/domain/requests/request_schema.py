"""What `request` takes, told as JSON Schema by the readers that check it."""

from __future__ import annotations

from typing import Any

from duecourse.domain.requests.task_request import (
    CREATABLE,
    DESCRIPTION,
    EDITABLE,
    LONGEST_TIME,
    MAX_RETRIES,
    NAME,
    PAYLOAD,
    Offer,
)
from duecourse.domain.tasks.task import ACTION
from duecourse.domain.time.duration import LONGEST
from duecourse.domain.time.recurrence import MAX_LENGTH
from duecourse.domain.validation.fields import Schema, object_schema, one_of, or_null

_SPAN: Schema = {"type": "string", "format": "span-of-time"}
_ABOUT = {
    "due_at": "When it runs first. A time without an offset is in the task's timezone. "
    "Give this or `in`; a cron line needs neither.",
    "in": "How long from now: a number of seconds, or a text such as 30s, 2h30m or 7d.",
    "repeat": "daily, weekly, monthly, weekdays, a cron line of five fields, or an RRULE.",
    "timezone": "An IANA zone; UTC unless given.",
    "reply_target": "Whom the channel tells; the sender unless given.",
    "payload": "What the type of work asks for. A key that the type does not know is refused.",
    "policy": "How failures are judged; by the type of work unless given.",
    "max_retries": "That of the policy unless given.",
    "subject": "What is worked on, where failures are to be counted across tasks.",
    "verify": "Whether the work waits for a verdict once it is done.",
}


def new_task_schema(offer: Offer) -> dict[str, Any]:
    """Null is as good as absent but for the description, which must be there."""
    known = _known(offer)
    fields: dict[str, Schema] = {name: or_null(known[name]) for name in known if name in CREATABLE}
    fields["description"] = known["description"]
    return object_schema(fields, required=["description"])


def changes_schema(offer: Offer) -> dict[str, Any]:
    """Only what repeats can be made null: it then runs once."""
    known = _known(offer)
    fields = {name: known[name] for name in known if name in EDITABLE}
    fields["repeat"] = or_null(known["repeat"])
    return {**object_schema(fields, required=()), "minProperties": 1}


def _known(offer: Offer) -> dict[str, Schema]:
    longest = LONGEST.total_seconds()
    schemas: dict[str, Schema] = {
        "description": DESCRIPTION.schema,
        "due_at": {"type": "string", "format": "time-of-task", "maxLength": LONGEST_TIME},
        "in": {"anyOf": [{"type": "number", "minimum": 0, "maximum": longest}, _SPAN]},
        "repeat": {"type": "string", "format": "repeat-rule", "maxLength": MAX_LENGTH},
        "timezone": {"type": "string", "format": "iana-zone"},
        "type": one_of(offer.types).schema,
        "channel": one_of(offer.channels_of(ACTION)).schema,
        "sender_id": NAME.schema,
        "reply_target": NAME.schema,
        "payload": PAYLOAD.schema,
        "policy": one_of(offer.policies).schema,
        "max_retries": MAX_RETRIES.schema,
        "subject": NAME.schema,
        "verify": {"type": "boolean"},
    }
    return {name: _told(name, schema) for name, schema in schemas.items()}


def _told(name: str, schema: Schema) -> Schema:
    told = [_ABOUT.get(name), schema.get("description")]
    text = " ".join(sentence for sentence in told if sentence)
    return {**schema, "description": text} if text else schema
