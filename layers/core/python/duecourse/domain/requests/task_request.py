"""Validate requests: a new task, or changes to one."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from duecourse.domain.lifecycle.spec_review import check_review_payload
from duecourse.domain.tasks.task import (
    API_CHANNEL,
    DEFAULT_MAX_RETRIES,
    DESCRIPTION_LIMIT,
    REMINDER,
    Task,
)
from duecourse.domain.tasks.task_edit import TaskEdit, Timing
from duecourse.domain.time.dst import to_instant
from duecourse.domain.time.duration import MAX_DURATION, parse_duration
from duecourse.domain.time.instant import truncate_to_millisecond
from duecourse.domain.time.recurrence import RecurrenceError, RecurrenceRule, Series
from duecourse.domain.time.timezones import load_timezone, to_wall_time
from duecourse.domain.validation.fields import (
    Fields,
    choice_field,
    integer_field,
    object_field,
    text_field,
)
from duecourse.domain.validation.payload_keys import (
    FindKeys,
    PayloadCheck,
    check_idempotent,
    parse_bool,
    refuse_links,
    reject_unknown_keys,
)

NAME_LIMIT = 256
MAX_TIME_LENGTH = 64
DESCRIPTION_FIELD = text_field(DESCRIPTION_LIMIT)
NAME_FIELD = text_field(NAME_LIMIT)
PAYLOAD_FIELD = object_field(32 * 1024)
MAX_RETRIES_FIELD = integer_field(1, 100)
_TIME_PATTERN = re.compile(r"[T ]\d{2}")
EDITABLE_FIELDS = frozenset(
    {"due_at", "in", "description", "repeat", "timezone", "payload", "policy", "max_retries"}
)
CREATABLE_FIELDS = EDITABLE_FIELDS | {
    "type",
    "channel",
    "sender_id",
    "reply_target",
    "subject",
    "verify",
}


def _accept_any(payload: Mapping[str, Any]) -> None:
    """Accept every payload."""


def _any_keys(payload: Mapping[str, Any]) -> None:
    """Accept every key."""


@dataclass(frozen=True)
class Capabilities:
    """What this deployment supports. Requests for anything else are refused."""

    types: frozenset[str]
    channels: frozenset[str]
    policies: Mapping[str, int]  # each with its default max_retries
    default_channel: str | None = None
    payload_checks: Mapping[str, PayloadCheck] = field(default_factory=dict)  # by task type
    check_verifier: PayloadCheck = _accept_any
    find_call_keys: FindKeys = _any_keys  # keys a provider reads from its payload

    def channels_for(self, task_type: str) -> frozenset[str]:
        return self.channels if task_type == REMINDER else self.channels | {API_CHANNEL}


@dataclass(frozen=True)
class _Content:
    description: str
    payload: dict[str, Any]
    policy: str
    max_retries: int


def parse_new_task(
    raw: Mapping[str, Any], *, task_id: str, capabilities: Capabilities, now: datetime
) -> Task:
    """Return the requested task. Raises InvalidFieldsError naming every wrong field."""
    now = truncate_to_millisecond(now)
    fields = Fields(raw, allowed=CREATABLE_FIELDS)
    task_type = fields.read("type", choice_field(capabilities.types), REMINDER)
    if not fields.has("description"):
        fields.add_error("description", "is required")
    timing = _parse_timing(fields, current=None, now=now)
    sender_id = fields.read("sender_id", NAME_FIELD, "api")
    if not fields.has("payload"):
        fields.check_missing("payload", _payload_parser(task_type, capabilities))
    subject = fields.read("subject", NAME_FIELD, None)
    channel = _parse_channel(fields, capabilities, task_type=task_type)
    reply_target = fields.read("reply_target", NAME_FIELD, sender_id)
    verify = fields.read("verify", _verify_parser(task_type), False)
    policy = _default_policy(task_type, subject)
    content = _parse_content(fields, capabilities, task_type=task_type, policy=policy)
    fields.raise_if_invalid()
    return Task(
        id=task_id,
        type=task_type,
        channel=channel,
        sender_id=sender_id,
        reply_target=reply_target,
        description=content.description,
        due_at=timing.due_at,
        nominal_at=timing.due_at,
        created_at=now,
        anchor=timing.anchor,
        repeat=timing.repeat,
        timezone=timing.timezone,
        subject=subject,
        payload=content.payload,
        policy=content.policy,
        max_retries=content.max_retries,
        verify=verify,
    )


def _parse_channel(fields: Fields, capabilities: Capabilities, *, task_type: str) -> str:
    """Return the channel for notifications. Only reminders need one."""
    default = capabilities.default_channel or ("" if task_type == REMINDER else API_CHANNEL)
    if not default and not fields.has("channel"):
        fields.add_error("channel", "is required")
    return fields.read("channel", choice_field(capabilities.channels_for(task_type)), default)


def _default_policy(task_type: str, subject: str | None) -> str:
    if task_type == REMINDER:
        return "omega"
    return "enrichment" if subject else "agent"


def parse_changes(
    task: Task, raw: Mapping[str, Any], *, capabilities: Capabilities, now: datetime
) -> TaskEdit:
    """Return the requested edit of `task`, validated like the fields of a new task."""
    now = truncate_to_millisecond(now)
    fields = Fields(raw, allowed=EDITABLE_FIELDS)
    if not raw:
        fields.add_error("body", "names nothing to change")
    for name in sorted(EDITABLE_FIELDS - {"repeat"}):
        if fields.has_key(name) and not fields.has(name):
            fields.add_error(name, "must not be null")
    content = _parse_content(fields, capabilities, task_type=task.type, policy=task.policy)
    has_usual_retries = task.max_retries == capabilities.policies.get(task.policy)
    has_new_limit = content.policy != task.policy and has_usual_retries
    has_new_time = any(fields.has_key(name) for name in ("due_at", "in", "repeat", "timezone"))
    timing = _parse_timing(fields, current=task, now=now) if has_new_time else None
    fields.raise_if_invalid()
    return TaskEdit(
        description=content.description if fields.has("description") else None,
        payload=content.payload if fields.has("payload") else None,
        policy=content.policy if fields.has("policy") else None,
        max_retries=content.max_retries if fields.has("max_retries") or has_new_limit else None,
        timing=timing,
        asked_at=now if timing is not None and _is_another(timing, task) else None,
    )


def _is_another(timing: Timing, task: Task) -> bool:
    return (timing.due_at, timing.repeat) != (task.due_at, task.repeat)


def _parse_content(
    fields: Fields, capabilities: Capabilities, *, task_type: str, policy: str
) -> _Content:
    nothing: dict[str, Any] = {}
    policy = fields.read("policy", choice_field(capabilities.policies), policy)
    usual = capabilities.policies.get(policy, DEFAULT_MAX_RETRIES)
    return _Content(
        description=fields.read("description", DESCRIPTION_FIELD, ""),
        payload=fields.read("payload", _payload_parser(task_type, capabilities), nothing),
        policy=policy,
        max_retries=fields.read("max_retries", MAX_RETRIES_FIELD, usual),
    )


def _payload_parser(task_type: str, capabilities: Capabilities) -> Callable[[Any], dict[str, Any]]:
    def parse(value: Any) -> dict[str, Any]:
        payload = PAYLOAD_FIELD(value)
        refuse_links(payload)
        check_idempotent(payload)
        if task_type in capabilities.payload_checks:
            capabilities.payload_checks[task_type](payload)
        if "verifier" in payload:
            _check_verifier(payload["verifier"], capabilities)
        check_review_payload(payload, capabilities.check_verifier, capabilities.find_call_keys)
        return payload

    return parse


def _check_verifier(verifier: Any, capabilities: Capabilities) -> None:
    if not isinstance(verifier, dict):
        raise ValueError("verifier: must be a JSON object that names a provider")
    try:
        reject_unknown_keys(verifier, capabilities.find_call_keys(verifier))
        capabilities.check_verifier(verifier)
    except ValueError as error:
        raise ValueError(f"verifier.{error}") from None


def _parse_timing(fields: Fields, *, current: Task | None, now: datetime) -> Timing:
    """Return the first run and the recurrence. In an edit, missing fields keep their value."""
    zone = fields.read(
        "timezone", _parse_timezone, load_timezone(current.timezone if current else "UTC")
    )
    kept = current.repeat if current and not fields.has_key("repeat") else None
    repeat = fields.read("repeat", _parse_repeat, RecurrenceRule.parse(kept) if kept else None)
    start = _parse_start(fields, current=current, zone=zone, repeat=repeat, now=now)
    if start is None:
        return Timing(now, now.replace(tzinfo=None), None, zone.key)
    anchor, due_at = start
    if repeat is None:
        if due_at < now and fields.has("timezone"):
            fields.add_error("timezone", "would put the task in the past")
        return Timing(due_at, anchor, None, zone.key)
    first = Series(repeat, anchor, zone).first_from(max(due_at, now))
    if first is None:
        fields.add_error("repeat", "never fires from that time on")
    return Timing(first or due_at, anchor, repeat.text, zone.key)


def _parse_start(
    fields: Fields,
    *,
    current: Task | None,
    zone: ZoneInfo,
    repeat: RecurrenceRule | None,
    now: datetime,
) -> tuple[datetime, datetime] | None:
    """Return the first time as wall clock and as instant, or None after a refused field."""
    given = [name for name in ("due_at", "in") if fields.has(name)]
    if len(given) == 2:
        fields.add_error("in", "give either due_at or in, not both")
        return None
    if "in" in given:
        due_at = now + fields.read("in", parse_duration, timedelta(0))
        return to_wall_time(due_at, zone), due_at
    if "due_at" in given:
        return fields.read("due_at", lambda value: _parse_due_at(value, zone, now), None)
    if repeat is not None and repeat.is_cron:  # a cron line defines its own times
        return to_wall_time(now, zone), now
    if current is not None:
        return _current_start(current, zone=zone, repeat=repeat)
    fields.add_error("due_at", "is required (or in)")
    return None


def _current_start(
    current: Task, *, zone: ZoneInfo, repeat: RecurrenceRule | None
) -> tuple[datetime, datetime]:
    """Return anchor and next run for an edit that names no time.

    The next occurrence keeps its wall-clock time, in the new zone if the zone changes. The anchor
    stays as long as the rule does: a monthly series on the 31st must not become one on the 28th
    because it was edited in February.
    """
    wall = _intended_wall_time(current)
    same_rule = repeat is not None and repeat.text == current.repeat
    anchor = current.anchor if same_rule else datetime.combine(wall, current.anchor.time())
    is_same_zone = zone.key == current.timezone
    return anchor, current.nominal_at if is_same_zone else to_instant(wall, zone)


def _intended_wall_time(task: Task) -> datetime:
    """Return the wall-clock time the task was scheduled for, even if a clock change moved it."""
    zone = load_timezone(task.timezone)
    wall = to_wall_time(task.nominal_at, zone)
    meant = datetime.combine(wall, task.anchor.time())
    return meant if to_instant(meant, zone) == task.nominal_at else wall


def _parse_due_at(value: Any, zone: ZoneInfo, now: datetime) -> tuple[datetime, datetime]:
    wall, instant = _parse_time(value, zone)
    if instant < now:
        raise ValueError("lies in the past")
    if instant - now > MAX_DURATION:
        raise ValueError("must be within 100 years")
    return wall, instant


def _parse_time(value: Any, zone: ZoneInfo) -> tuple[datetime, datetime]:
    if (
        not isinstance(value, str)
        or len(value) > MAX_TIME_LENGTH
        or not _TIME_PATTERN.search(value)
    ):
        raise ValueError("must be a time such as 2026-02-17T15:00:00Z")
    try:
        parsed = truncate_to_millisecond(datetime.fromisoformat(value.strip()))
        if parsed.tzinfo is None:
            return parsed, to_instant(parsed, zone)
        return to_wall_time(parsed, zone), parsed.astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError("must be a time such as 2026-02-17T15:00:00Z") from None


def _parse_timezone(value: Any) -> ZoneInfo:
    if not isinstance(value, str):
        raise ValueError("must be an IANA zone such as Europe/Berlin")
    return load_timezone(value)


def _parse_repeat(value: Any) -> RecurrenceRule | None:
    if not isinstance(value, str):
        raise RecurrenceError("must be daily, weekly, monthly, weekdays, a cron line or an RRULE")
    return None if value == "once" else RecurrenceRule.parse(value)


def _verify_parser(task_type: str) -> Callable[[Any], bool]:
    def parse(value: Any) -> bool:
        wanted = parse_bool(value)
        if wanted and task_type == REMINDER:
            raise ValueError("a reminder has no work to verify: must be false")
        return wanted

    return parse
