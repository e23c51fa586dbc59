"""What callers ask for, checked at the door: a new task, or changes to one."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from duecourse.domain.lifecycle.spec_review import check_review
from duecourse.domain.tasks.task import (
    DEFAULT_MAX_RETRIES,
    DESCRIPTION_LIMIT,
    NOBODY,
    REMINDER,
    Task,
)
from duecourse.domain.tasks.task_edit import TaskEdit, Timing
from duecourse.domain.time.duration import LONGEST, parse_duration
from duecourse.domain.time.instant import to_millisecond
from duecourse.domain.time.recurrence import Repeat, RepeatError, Series
from duecourse.domain.time.timezones import to_instant, to_wall, zone_named
from duecourse.domain.validation.fields import Fields, json_object, one_of, text, whole_number
from duecourse.domain.validation.payload_keys import (
    Check,
    FindKeys,
    only_keys,
    read_key,
    refuse_links,
    true_or_false,
)

NAME_LIMIT = 256
LONGEST_TIME = 64
DESCRIPTION = text(DESCRIPTION_LIMIT)
NAME = text(NAME_LIMIT)
PAYLOAD = json_object(32 * 1024)
MAX_RETRIES = whole_number(1, 100)
_HAS_TIME = re.compile(r"[T ]\d{2}")
EDITABLE = frozenset(
    {"due_at", "in", "description", "repeat", "timezone", "payload", "policy", "max_retries"}
)
CREATABLE = EDITABLE | {"type", "channel", "sender_id", "reply_target", "subject", "verify"}


def _no_check(payload: Mapping[str, Any]) -> None:
    """Every payload will do."""


def _any_keys(payload: Mapping[str, Any]) -> None:
    """Every key will do."""


@dataclass(frozen=True)
class Offer:
    """What this deployment can do, so that nothing is accepted that could not be kept."""

    types: frozenset[str]
    channels: frozenset[str]
    policies: Mapping[str, int]  # with the max_retries of a task that names none
    default_channel: str | None = None
    checks: Mapping[str, Check] = field(default_factory=dict)  # of a type's payload
    check_verifier: Check = _no_check
    find_call_keys: FindKeys = _any_keys  # of a payload that names a provider

    def channels_of(self, task_type: str) -> frozenset[str]:
        return self.channels if task_type == REMINDER else self.channels | {NOBODY}


@dataclass(frozen=True)
class _Content:
    description: str
    payload: dict[str, Any]
    policy: str
    max_retries: int


def new_task(raw: Mapping[str, Any], *, task_id: str, offer: Offer, now: datetime) -> Task:
    """Raises InvalidFieldsError naming every field that is wrong."""
    now = to_millisecond(now)
    fields = Fields(raw, known=CREATABLE)
    task_type = fields.read("type", one_of(offer.types), REMINDER)
    if not fields.has("description"):
        fields.refuse("description", "is required")
    timing = _timing(fields, current=None, now=now)
    sender_id = fields.read("sender_id", NAME, "api")
    if not fields.has("payload"):
        fields.check_absent("payload", _payload(task_type, offer))
    subject = fields.read("subject", NAME, None)
    channel = _channel(fields, offer, task_type=task_type)
    reply_target = fields.read("reply_target", NAME, sender_id)
    verify = fields.read("verify", _verify(task_type), False)
    policy = _default_policy(task_type, subject)
    content = _content(fields, offer, task_type=task_type, policy=policy)
    fields.check()
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


def _channel(fields: Fields, offer: Offer, *, task_type: str) -> str:
    """Where people are told. Only a reminder cannot do without."""
    default = offer.default_channel or ("" if task_type == REMINDER else NOBODY)
    if not default and not fields.has("channel"):
        fields.refuse("channel", "is required")
    return fields.read("channel", one_of(offer.channels_of(task_type)), default)


def _default_policy(task_type: str, subject: str | None) -> str:
    if task_type == REMINDER:
        return "omega"
    return "enrichment" if subject else "agent"


def changes_to(task: Task, raw: Mapping[str, Any], *, offer: Offer, now: datetime) -> TaskEdit:
    """What the request changes of the task, checked like the fields of a new one."""
    now = to_millisecond(now)
    fields = Fields(raw, known=EDITABLE)
    if not raw:
        fields.refuse("body", "names nothing to change")
    for name in sorted(EDITABLE - {"repeat"}):
        if fields.mentions(name) and not fields.has(name):
            fields.refuse(name, "must not be null")
    content = _content(fields, offer, task_type=task.type, policy=task.policy)
    has_usual_retries = task.max_retries == offer.policies.get(task.policy)
    has_new_limit = content.policy != task.policy and has_usual_retries
    has_new_time = any(fields.mentions(name) for name in ("due_at", "in", "repeat", "timezone"))
    timing = _timing(fields, current=task, now=now) if has_new_time else None
    fields.check()
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


def _content(fields: Fields, offer: Offer, *, task_type: str, policy: str) -> _Content:
    nothing: dict[str, Any] = {}
    policy = fields.read("policy", one_of(offer.policies), policy)
    usual = offer.policies.get(policy, DEFAULT_MAX_RETRIES)
    return _Content(
        description=fields.read("description", DESCRIPTION, ""),
        payload=fields.read("payload", _payload(task_type, offer), nothing),
        policy=policy,
        max_retries=fields.read("max_retries", MAX_RETRIES, usual),
    )


def _payload(task_type: str, offer: Offer) -> Callable[[Any], dict[str, Any]]:
    def parse(value: Any) -> dict[str, Any]:
        payload = PAYLOAD(value)
        refuse_links(payload)
        read_key(payload, "repeat_is_harmless", true_or_false, False)
        if task_type in offer.checks:
            offer.checks[task_type](payload)
        if "verifier" in payload:
            _check_verifier(payload["verifier"], offer)
        check_review(payload, offer.check_verifier, offer.find_call_keys)
        return payload

    return parse


def _check_verifier(verifier: Any, offer: Offer) -> None:
    if not isinstance(verifier, dict):
        raise ValueError("verifier: must be a JSON object that names a provider")
    try:
        only_keys(verifier, offer.find_call_keys(verifier))
        offer.check_verifier(verifier)
    except ValueError as error:
        raise ValueError(f"verifier.{error}") from None


def _timing(fields: Fields, *, current: Task | None, now: datetime) -> Timing:
    """When it runs first and how it repeats; for an edit, what is not named stays as it was."""
    zone = fields.read("timezone", _zone, zone_named(current.timezone if current else "UTC"))
    kept = current.repeat if current and not fields.mentions("repeat") else None
    repeat = fields.read("repeat", _repeat, Repeat.parse(kept) if kept else None)
    start = _start(fields, current=current, zone=zone, repeat=repeat, now=now)
    if start is None:
        return Timing(now, now.replace(tzinfo=None), None, zone.key)
    anchor, due_at = start
    if repeat is None:
        if due_at < now and fields.has("timezone"):
            fields.refuse("timezone", "would put the task in the past")
        return Timing(due_at, anchor, None, zone.key)
    first = Series(repeat, anchor, zone).first_from(max(due_at, now))
    if first is None:
        fields.refuse("repeat", "never fires from that time on")
    return Timing(first or due_at, anchor, repeat.text, zone.key)


def _start(
    fields: Fields,
    *,
    current: Task | None,
    zone: ZoneInfo,
    repeat: Repeat | None,
    now: datetime,
) -> tuple[datetime, datetime] | None:
    """The first time on the wall clock and as an instant; None once something was refused."""
    given = [name for name in ("due_at", "in") if fields.has(name)]
    if len(given) == 2:
        fields.refuse("in", "give either due_at or in, not both")
        return None
    if "in" in given:
        due_at = now + fields.read("in", parse_duration, timedelta(0))
        return to_wall(due_at, zone), due_at
    if "due_at" in given:
        return fields.read("due_at", lambda value: _moment(value, zone, now), None)
    if repeat is not None and repeat.is_cron:  # it says by itself when it runs
        return to_wall(now, zone), now
    if current is not None:
        return _kept_start(current, zone=zone, repeat=repeat)
    fields.refuse("due_at", "is required (or in)")
    return None


def _kept_start(
    current: Task, *, zone: ZoneInfo, repeat: Repeat | None
) -> tuple[datetime, datetime]:
    """The next occurrence stays at its wall-clock time, in the new zone if that is what changed.

    The series' own anchor stays with its rule: a monthly one on the 31st is not caught in February.
    """
    wall = _intended_wall(current)
    same_rule = repeat is not None and repeat.text == current.repeat
    anchor = current.anchor if same_rule else datetime.combine(wall, current.anchor.time())
    is_same_zone = zone.key == current.timezone
    return anchor, current.nominal_at if is_same_zone else to_instant(wall, zone)


def _intended_wall(task: Task) -> datetime:
    """The time on the wall that was meant, also where a clock change moved the occurrence."""
    zone = zone_named(task.timezone)
    wall = to_wall(task.nominal_at, zone)
    meant = datetime.combine(wall, task.anchor.time())
    return meant if to_instant(meant, zone) == task.nominal_at else wall


def _moment(value: Any, zone: ZoneInfo, now: datetime) -> tuple[datetime, datetime]:
    wall, instant = _wall_and_instant(value, zone)
    if instant < now:
        raise ValueError("lies in the past")
    if instant - now > LONGEST:
        raise ValueError("must be within 100 years")
    return wall, instant


def _wall_and_instant(value: Any, zone: ZoneInfo) -> tuple[datetime, datetime]:
    if not isinstance(value, str) or len(value) > LONGEST_TIME or not _HAS_TIME.search(value):
        raise ValueError("must be a time such as 2026-02-17T15:00:00Z")
    try:
        parsed = to_millisecond(datetime.fromisoformat(value.strip()))
        if parsed.tzinfo is None:
            return parsed, to_instant(parsed, zone)
        return to_wall(parsed, zone), parsed.astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError("must be a time such as 2026-02-17T15:00:00Z") from None


def _zone(value: Any) -> ZoneInfo:
    if not isinstance(value, str):
        raise ValueError("must be an IANA zone such as Europe/Berlin")
    return zone_named(value)


def _repeat(value: Any) -> Repeat | None:
    if not isinstance(value, str):
        raise RepeatError("must be daily, weekly, monthly, weekdays, a cron line or an RRULE")
    return None if value == "once" else Repeat.parse(value)


def _verify(task_type: str) -> Callable[[Any], bool]:
    def parse(value: Any) -> bool:
        wanted = true_or_false(value)
        if wanted and task_type == REMINDER:
            raise ValueError("a reminder has no work to verify: must be false")
        return wanted

    return parse
