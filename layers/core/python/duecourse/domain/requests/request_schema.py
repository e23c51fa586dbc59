"""JSON Schema of the requests for a new task and for an edit, built from their field checks."""

from __future__ import annotations

from typing import Any

from duecourse.domain.requests.capabilities import Capabilities
from duecourse.domain.requests.new_task import CREATABLE_FIELDS
from duecourse.domain.requests.schedule import MAX_TIME_LENGTH
from duecourse.domain.requests.task_changes import EDITABLE_FIELDS
from duecourse.domain.requests.task_fields import (
    DESCRIPTION_FIELD,
    MAX_RETRIES_FIELD,
    NAME_FIELD,
    PAYLOAD_FIELD,
)
from duecourse.domain.tasks.task import ACTION
from duecourse.domain.time.duration import MAX_DURATION
from duecourse.domain.time.recurrence import MAX_RULE_LENGTH
from duecourse.domain.validation.fields import Schema, choice_field, nullable, object_schema

_DURATION_SCHEMA: Schema = {"type": "string", "format": "span-of-time"}
_DESCRIPTIONS = {
    "description": "The text of a reminder, or what is to be done.",
    "due_at": "When the task runs first, such as 2026-02-17T15:00:00Z. A time without an offset is "
    "in the task's `timezone`. Give either `due_at` or `in`; a cron line needs neither.",
    "in": "The time from now, as a number of seconds or a duration such as 30s, 2h30m or 7d.",
    "repeat": "`daily`, `weekly`, `monthly`, `weekdays`, a cron line of five fields, or an RRULE.",
    "timezone": "An IANA time zone such as Europe/Berlin. Defaults to UTC.",
    "type": "The type of work. Defaults to `reminder`.",
    "channel": "Where messages about the task are sent.",
    "sender_id": "The owner of the task on its channel.",
    "reply_target": "The chat or person that gets the messages. Defaults to `sender_id`.",
    "payload": "The input of the task's type. Unknown keys are refused.",
    "policy": "The policy that decides about failures. The default depends on the type.",
    "max_retries": "Defaults to that of the policy.",
    "subject": "What the task works on. Failures are counted by subject, across tasks.",
    "verify": "Whether finished work waits for approval by a person or a verifier.",
}


def new_task_schema(capabilities: Capabilities) -> dict[str, Any]:
    """Return the schema of a new task. Null equals absent, except for `description`."""
    schemas = _field_schemas(capabilities)
    fields: dict[str, Schema] = {
        name: nullable(schemas[name]) for name in schemas if name in CREATABLE_FIELDS
    }
    fields["description"] = schemas["description"]
    return object_schema(fields, required=["description"])


def changes_schema(capabilities: Capabilities) -> dict[str, Any]:
    """Return the schema of an edit. Only `repeat` may be null: the task then runs once."""
    schemas = _field_schemas(capabilities)
    fields = {name: schemas[name] for name in schemas if name in EDITABLE_FIELDS}
    fields["repeat"] = nullable(schemas["repeat"])
    return {**object_schema(fields, required=()), "minProperties": 1}


def _field_schemas(capabilities: Capabilities) -> dict[str, Schema]:
    max_seconds = MAX_DURATION.total_seconds()
    schemas: dict[str, Schema] = {
        "description": DESCRIPTION_FIELD.schema,
        "due_at": {"type": "string", "format": "time-of-task", "maxLength": MAX_TIME_LENGTH},
        "in": {
            "anyOf": [{"type": "number", "minimum": 0, "maximum": max_seconds}, _DURATION_SCHEMA]
        },
        "repeat": {"type": "string", "format": "repeat-rule", "maxLength": MAX_RULE_LENGTH},
        "timezone": {"type": "string", "format": "iana-zone"},
        "type": choice_field(capabilities.types).schema,
        "channel": choice_field(capabilities.channels_for(ACTION)).schema,
        "sender_id": NAME_FIELD.schema,
        "reply_target": NAME_FIELD.schema,
        "payload": PAYLOAD_FIELD.schema,
        "policy": choice_field(capabilities.policies).schema,
        "max_retries": MAX_RETRIES_FIELD.schema,
        "subject": NAME_FIELD.schema,
        "verify": {"type": "boolean"},
    }
    return {name: _with_description(name, schema) for name, schema in schemas.items()}


def _with_description(name: str, schema: Schema) -> Schema:
    texts = [_DESCRIPTIONS.get(name), schema.get("description")]
    text = " ".join(sentence for sentence in texts if sentence)
    return {**schema, "description": text} if text else schema
