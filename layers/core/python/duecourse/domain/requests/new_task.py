"""A new task as a caller wants it: parsed from JSON or built in code, then checked and built."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from duecourse.domain.requests.capabilities import Capabilities
from duecourse.domain.requests.default_policy import default_policy
from duecourse.domain.requests.schedule import (
    SCHEDULE_FIELDS,
    SCHEDULE_SCHEMAS,
    Schedule,
    parse_schedule,
    resolve_timing,
)
from duecourse.domain.requests.task_fields import (
    DESCRIPTION_FIELD,
    MAX_RETRIES_FIELD,
    NAME_FIELD,
    PAYLOAD_FIELD,
    describe,
    payload_check,
)
from duecourse.domain.tasks.task import ACTION, DEFAULT_MAX_RETRIES, REMINDER, Task
from duecourse.domain.time.instant import truncate_to_millisecond
from duecourse.domain.validation.fields import FieldErrors, Fields, Schema, choice_field
from duecourse.domain.validation.payload_keys import parse_bool

CREATABLE_FIELDS = SCHEDULE_FIELDS | {
    "description",
    "type",
    "channel",
    "sender_id",
    "reply_target",
    "payload",
    "policy",
    "max_retries",
    "subject",
    "verify",
}
API_SENDER = "api"


@dataclass(frozen=True, kw_only=True)
class NewTask:
    """What a caller wants. `build_task` checks the values and fills in what is None.

    None means: for `channel` the deployment's default, for `reply_target` the sender or the only
    target of the channel, for `policy` that of the type and subject, for `max_retries` that of the
    policy.
    """

    description: str
    type: str = REMINDER
    schedule: Schedule = field(default_factory=Schedule)
    channel: str | None = None
    sender_id: str = API_SENDER
    reply_target: str | None = None
    payload: dict[str, Any] | None = None
    policy: str | None = None
    max_retries: int | None = None
    subject: str | None = None
    verify: bool = False


def field_schemas(capabilities: Capabilities) -> dict[str, Schema]:
    """Return the JSON Schema of each field that a request for a new task may have."""
    return {
        "description": describe(
            DESCRIPTION_FIELD.schema, "The text of a reminder, or what is to be done."
        ),
        **SCHEDULE_SCHEMAS,
        "type": describe(
            choice_field(capabilities.types).schema, "The type of work. Defaults to `reminder`."
        ),
        "channel": describe(
            choice_field(capabilities.channels_for(ACTION)).schema,
            "Where messages about the task are sent: a chat platform, `log` (a line in the log) or"
            " `email` (everybody who subscribed to the stack's reminders).",
        ),
        "sender_id": describe(NAME_FIELD.schema, "The owner of the task on its channel."),
        "reply_target": describe(
            NAME_FIELD.schema,
            "The chat or person that gets the messages. Defaults to `sender_id`. With the channel"
            " `email` it can only be `subscribers`, which is the default there.",
        ),
        "payload": describe(
            PAYLOAD_FIELD.schema, "The input of the task's type. Unknown keys are refused."
        ),
        "policy": describe(
            choice_field(capabilities.policies).schema,
            "The policy that decides about failures. The default depends on the type.",
        ),
        "max_retries": describe(MAX_RETRIES_FIELD.schema, "Defaults to that of the policy."),
        "subject": describe(
            NAME_FIELD.schema,
            "What the task works on. Failures are counted by subject, across tasks.",
        ),
        "verify": describe(
            {"type": "boolean"},
            "Whether finished work waits for approval by a person or a verifier.",
        ),
    }


def parse_new_task(raw: Mapping[str, Any], *, capabilities: Capabilities, now: datetime) -> NewTask:
    """Parse the JSON of a new task: its names and types. Raises InvalidFieldsError.

    `build_task` checks the values. If the JSON is wrong, they are checked here too, so that the
    error names every wrong field.
    """
    fields = Fields(raw, allowed=CREATABLE_FIELDS)
    if not fields.has("description"):
        fields.add_error("description", "is required")
    new_task = NewTask(
        description=fields.read("description", _parse_text, ""),
        type=fields.read("type", _parse_text, REMINDER),
        schedule=parse_schedule(fields),
        channel=fields.read("channel", _parse_text, None),
        sender_id=fields.read("sender_id", _parse_text, API_SENDER),
        reply_target=fields.read("reply_target", _parse_text, None),
        payload=fields.read("payload", _parse_object, None),
        policy=fields.read("policy", _parse_text, None),
        max_retries=fields.read("max_retries", _parse_integer, None),
        subject=fields.read("subject", _parse_text, None),
        verify=fields.read("verify", parse_bool, False),
    )
    if fields.errors:
        _build(new_task, fields.errors, task_id="", capabilities=capabilities, now=now)
    fields.raise_if_invalid()
    return new_task


def build_task(
    new_task: NewTask, *, task_id: str, capabilities: Capabilities, now: datetime
) -> Task:
    """Return the task. Raises InvalidFieldsError naming every wrong field."""
    errors = FieldErrors()
    task = _build(new_task, errors, task_id=task_id, capabilities=capabilities, now=now)
    errors.raise_if_any()
    return task


def _build(
    new_task: NewTask,
    errors: FieldErrors,
    *,
    task_id: str,
    capabilities: Capabilities,
    now: datetime,
) -> Task:
    """Return the task, which is only valid if nothing was added to `errors`."""
    now = truncate_to_millisecond(now)
    task_type = errors.check("type", choice_field(capabilities.types), new_task.type, REMINDER)
    timing = resolve_timing(new_task.schedule, errors, now=now)
    sender_id = errors.check("sender_id", NAME_FIELD, new_task.sender_id, API_SENDER)
    policy = _check_policy(new_task, errors, capabilities, task_type=task_type)
    default_max_retries = capabilities.policies.get(policy, DEFAULT_MAX_RETRIES)
    channel = _check_channel(new_task, errors, capabilities, task_type=task_type)
    return Task(
        id=task_id,
        type=task_type,
        channel=channel,
        sender_id=sender_id,
        reply_target=_check_reply_target(
            new_task, errors, capabilities, channel=channel, sender_id=sender_id
        ),
        description=errors.check("description", DESCRIPTION_FIELD, new_task.description, ""),
        due_at=timing.due_at,
        nominal_at=timing.due_at,
        created_at=now,
        anchor=timing.anchor,
        repeat=timing.repeat,
        timezone=timing.timezone,
        subject=errors.check("subject", NAME_FIELD, new_task.subject, None),
        payload=_check_payload(new_task, errors, capabilities, task_type=task_type),
        policy=policy,
        max_retries=errors.check(
            "max_retries", MAX_RETRIES_FIELD, new_task.max_retries, default_max_retries
        ),
        verify=_check_verify(new_task, errors, task_type=task_type),
    )


def _check_channel(
    new_task: NewTask, errors: FieldErrors, capabilities: Capabilities, *, task_type: str
) -> str:
    """Return the channel for notifications. Only reminders need one."""
    default = capabilities.default_channel_for(task_type)
    allowed = capabilities.channels_for(task_type)
    if default is None and new_task.channel is None:
        choices = f": one of {', '.join(sorted(allowed))}" if allowed else ""
        errors.add("channel", f"is required{choices}")
    return errors.check("channel", choice_field(allowed), new_task.channel, default or "")


def _check_reply_target(
    new_task: NewTask,
    errors: FieldErrors,
    capabilities: Capabilities,
    *,
    channel: str,
    sender_id: str,
) -> str:
    """Return the target. A channel that can send to one only refuses every other.

    Otherwise the message would go to people whom the caller did not name.
    """
    target = errors.check("reply_target", NAME_FIELD, new_task.reply_target, sender_id)
    only_target = capabilities.only_targets.get(channel)
    if only_target is None:
        return target
    if new_task.reply_target not in (None, only_target):
        reason = f"the channel {channel} sends to all of them, not to one address"
        errors.add("reply_target", f"must be {only_target} or left out: {reason}")
    return only_target


def _check_policy(
    new_task: NewTask, errors: FieldErrors, capabilities: Capabilities, *, task_type: str
) -> str:
    default = default_policy(task_type, has_subject=new_task.subject is not None)
    return errors.check("policy", choice_field(capabilities.policies), new_task.policy, default)


def _check_payload(
    new_task: NewTask, errors: FieldErrors, capabilities: Capabilities, *, task_type: str
) -> dict[str, Any]:
    check = payload_check(task_type, capabilities)
    if new_task.payload is not None:
        return errors.check("payload", check, new_task.payload, {})
    try:
        return check({})
    except ValueError as error:
        errors.add("payload", f"is required: {error}")
        return {}


def _check_verify(new_task: NewTask, errors: FieldErrors, *, task_type: str) -> bool:
    if new_task.verify and task_type == REMINDER:
        errors.add("verify", "must be false: a reminder has no work to verify")
    return new_task.verify


def _parse_text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("must be a string")
    return value


def _parse_integer(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError("must be a whole number")
    return value


def _parse_object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError("must be a JSON object")
    return value
