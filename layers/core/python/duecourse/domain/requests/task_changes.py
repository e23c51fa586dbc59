"""Parse the JSON of an edit into a `TaskEdit`."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from duecourse.domain.requests.capabilities import Capabilities
from duecourse.domain.requests.schedule import SCHEDULE_FIELDS, parse_schedule, resolve_timing
from duecourse.domain.requests.task_fields import (
    DESCRIPTION_FIELD,
    MAX_RETRIES_FIELD,
    payload_check,
)
from duecourse.domain.tasks.task import DEFAULT_MAX_RETRIES, Task
from duecourse.domain.tasks.task_edit import TaskEdit, Timing
from duecourse.domain.time.instant import truncate_to_millisecond
from duecourse.domain.validation.fields import Fields, choice_field

EDITABLE_FIELDS = SCHEDULE_FIELDS | {"description", "payload", "policy", "max_retries"}


def parse_changes(
    task: Task, raw: Mapping[str, Any], *, capabilities: Capabilities, now: datetime
) -> TaskEdit:
    """Return the requested edit of `task`, validated like the fields of a new task."""
    now = truncate_to_millisecond(now)
    fields = Fields(raw, allowed=EDITABLE_FIELDS)
    _check_presence(fields, raw)
    policy = fields.read("policy", choice_field(capabilities.policies), None)
    default_max_retries = _default_max_retries(task, policy, capabilities)
    timing = _parse_timing(fields, task, now=now)
    check_payload = payload_check(task.type, capabilities, replaced=task.payload)
    edit = TaskEdit(
        description=fields.read("description", DESCRIPTION_FIELD, None),
        payload=fields.read("payload", check_payload, None),
        policy=policy,
        max_retries=fields.read("max_retries", MAX_RETRIES_FIELD, default_max_retries),
        timing=timing,
        rescheduled_at=now if timing is not None and _has_another_time(timing, task) else None,
    )
    fields.raise_if_invalid()
    return edit


def _check_presence(fields: Fields, raw: Mapping[str, Any]) -> None:
    if not raw:
        fields.add_error("body", "must contain a field to change")
    for name in sorted(EDITABLE_FIELDS - {"repeat"}):
        if fields.has_key(name) and not fields.has(name):
            fields.add_error(name, "must not be null")


def _default_max_retries(
    task: Task, new_policy: str | None, capabilities: Capabilities
) -> int | None:
    """Return the limit of a new policy if the task has that of its current one, else None."""
    if new_policy in (None, task.policy):
        return None
    has_default = task.max_retries == capabilities.policies.get(task.policy)
    return capabilities.policies.get(new_policy, DEFAULT_MAX_RETRIES) if has_default else None


def _parse_timing(fields: Fields, task: Task, *, now: datetime) -> Timing | None:
    """Return the new timing, or None if the edit names no field of the schedule."""
    if not any(fields.has_key(name) for name in SCHEDULE_FIELDS):
        return None
    schedule = parse_schedule(fields, current=task)
    timing = resolve_timing(schedule, fields.errors, current=task, now=now)
    if timing.repeat is None and timing.due_at < now and fields.has("timezone"):
        fields.add_error("timezone", "moves the task into the past: also set due_at or in")
    return timing


def _has_another_time(timing: Timing, task: Task) -> bool:
    return (timing.due_at, timing.repeat) != (task.due_at, task.repeat)
