"""Tasks to items and back. What is null or a default is not stored; what is missing is one."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from duecourse.adapters.dynamodb.items import TaskItem
from duecourse.adapters.dynamodb.stored_wait import read_wait, upgrade_run, wait_to_attributes
from duecourse.adapters.dynamodb.task_links import read_links, review_to_stored
from duecourse.domain.blocked import awaits_fix, is_in_doubt
from duecourse.domain.ids import SHORT, shard_of
from duecourse.domain.instant import from_text, from_text_or_none, to_text, to_text_or_none
from duecourse.domain.pending_retries import retry_lane
from duecourse.domain.policy import Action
from duecourse.domain.status import Status
from duecourse.domain.task import DEFAULT_MAX_RETRIES, REMINDER, Skipped, Task
from duecourse.domain.verification import awaits_a_person
from duecourse.domain.wallclock import to_wall, zone_named
from duecourse.domain.wire import run_from_stored, run_to_stored

# In the due-index, and in none of the shards that the scanner looks at. Only the tasks in BLOCKED
# time out. What is blocked is due no later than it was blocked.
AWAITING_FIX, BLOCKED, IN_DOUBT = -1, -2, -3
# In the retry-index, beside the lanes of retries: there `next_retry_at` is until when somebody may
# give a verdict.
TO_VERIFY = "to_verify"


def to_item(task: Task, *, shard_count: int, retention: timedelta) -> TaskItem:
    values = _indexed(task, shard_count) | {
        "short_id": task.short_id,
        "id": task.id,
        "type": task.type,
        "channel": task.channel,
        "sender_id": task.sender_id,
        "reply_target": task.reply_target,
        "description": task.description,
        "due_at": to_text(task.due_at),
        "nominal_at": to_text_or_none(task.nominal_at),
        "created_at": to_text(task.created_at),
        "anchor": _stored_anchor(task),
        "timezone": task.timezone,
        "repeat": task.repeat,
        "status": str(task.status),
        "paused": task.paused or None,
        "delivered_at": to_text_or_none(task.delivered_at),
        "retry_count": task.retry_count,
        "max_retries": task.max_retries,
        "failed_occurrences": task.failed_occurrences or None,
        "last_error": task.last_error,
        "last_error_category": task.last_error_category,
        "recovery_action": str(task.recovery_action) if task.recovery_action else None,
        "guidance": list(task.guidance) or None,
        "policy": task.policy,
        "subject": task.subject,
        "payload": dict(task.payload) or None,
        "verify": task.verify or None,
        "run": run_to_stored(task.run) if task.run else None,
        "skipped": [task.skipped.count, task.skipped.reason] if task.skipped else None,
        **wait_to_attributes(task.wait),
        "closed_at": to_text_or_none(task.closed_at),
        "blocked_at": to_text_or_none(task.blocked_at),
        "request_hash": task.request_hash,
        "created_by": task.created_by,
        "asked_at": to_text_or_none(task.asked_at),
        "owner_asked_at": to_text_or_none(task.owner_asked_at),
        "snooze_of": task.snooze_of,
        "review": review_to_stored(task.review),
        "version": task.version,
        "expires_at": _expiry(task, retention),
    }
    return TaskItem(**{name: value for name, value in values.items() if value is not None})


def _indexed(task: Task, shard_count: int) -> dict[str, Any]:
    """What the indexes are keyed by; absent where the task is not to be found in one."""
    shard = shard_of(task.id, shard_count)
    lane: str | None = retry_lane(task)
    retry_at = task.next_retry_at
    if awaits_a_person(task):
        lane, retry_at = TO_VERIFY, task.due_at
    return {
        "shard": shard,
        "due_shard": _due_shard(task, shard),
        "open_sender": sender_key(task.channel, task.sender_id) if task.is_open else None,
        "retry_lane": str(lane) if lane else None,
        "next_retry_at": to_text_or_none(retry_at),
    }


def _due_shard(task: Task, shard: int) -> int | None:
    if task.status is Status.BLOCKED:
        return _lane(task)
    return shard if runs_or_comes(task) else None


def runs_or_comes(task: Task) -> bool:
    """It is in a shard that the scanner looks at."""
    return task.falls_due or task.status is Status.IN_PROGRESS


def _lane(task: Task) -> int:
    if awaits_fix(task):
        return AWAITING_FIX
    return IN_DOUBT if is_in_doubt(task) else BLOCKED


def to_task(item: TaskItem) -> Task:
    """Items from before an attribute existed load with its safe default."""
    due_at = from_text(item.due_at)
    nominal_at = from_text(item.nominal_at) if item.nominal_at else due_at
    timezone = item.timezone or "UTC"
    return Task(
        id=item.id,
        type=item.type or REMINDER,
        channel=item.channel,
        sender_id=item.sender_id,
        reply_target=item.reply_target,
        description=item.description,
        due_at=due_at,
        nominal_at=nominal_at,
        created_at=from_text(item.created_at),
        anchor=_anchor(item.anchor, nominal_at, timezone),
        timezone=timezone,
        repeat=None if item.repeat == "once" else item.repeat,
        status=Status(item.status),
        paused=bool(item.paused),
        delivered_at=from_text_or_none(item.delivered_at),
        retry_count=int(item.retry_count or 0),
        max_retries=int(item.max_retries or DEFAULT_MAX_RETRIES),
        failed_occurrences=int(item.failed_occurrences or 0),
        last_error=item.last_error,
        last_error_category=item.last_error_category,
        next_retry_at=None
        if item.retry_lane == TO_VERIFY
        else from_text_or_none(item.next_retry_at),
        recovery_action=Action(item.recovery_action) if item.recovery_action else None,
        guidance=tuple(item.guidance or ()),
        policy=item.policy or "omega",
        subject=item.subject,
        verify=bool(item.verify),
        run=run_from_stored(upgrade_run(item.run)) if item.run else None,
        skipped=Skipped(*item.skipped) if item.skipped else None,
        wait=read_wait(item),
        closed_at=from_text_or_none(item.closed_at),
        blocked_at=from_text_or_none(item.blocked_at),
        request_hash=item.request_hash,
        created_by=item.created_by,
        asked_at=from_text_or_none(item.asked_at),
        owner_asked_at=from_text_or_none(item.owner_asked_at),
        version=int(item.version or 0),
        **read_links(item),
    )


def sender_key(channel: str, sender_id: str) -> str:
    return f"{channel}#{sender_id}"


def hash_key_of(task_id: str) -> str:
    return task_id[:SHORT]


def _expiry(task: Task, retention: timedelta) -> int | None:
    if task.is_open:
        return None
    ended_at = task.run.ended_at if task.run else None
    closed_at = task.closed_at or ended_at or max(task.created_at, task.due_at)
    return int((closed_at + retention).timestamp())


def _stored_anchor(task: Task) -> str | None:
    """Mostly it is the time on the wall at the first occurrence, and need not be kept."""
    if task.anchor == _anchor(None, task.nominal_at, task.timezone):
        return None
    return task.anchor.isoformat(timespec="milliseconds")


def _anchor(stored: str | None, nominal_at: datetime, timezone: str) -> datetime:
    if stored:
        return datetime.fromisoformat(stored)
    return to_wall(nominal_at, zone_named(timezone))
