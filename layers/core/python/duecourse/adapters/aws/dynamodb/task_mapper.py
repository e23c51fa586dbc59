"""Convert tasks to items and back. Nulls and default values are not stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from datetime import datetime, timedelta
from typing import Any

from duecourse.adapters.aws.dynamodb.item_codec import ItemCodec, Stored
from duecourse.adapters.aws.dynamodb.models import TaskItem
from duecourse.adapters.aws.dynamodb.older_items import upgrade_task
from duecourse.adapters.aws.dynamodb.packed_attributes import pack, unpack
from duecourse.adapters.aws.dynamodb.stored_item import BEFORE_VERSIONS, read_item
from duecourse.domain.dispatch.lanes import partition_of
from duecourse.domain.lifecycle.blocked import is_awaiting_fix, is_awaiting_resolution
from duecourse.domain.lifecycle.task_lane import lane_of
from duecourse.domain.tasks.ids import SHORT_ID_LENGTH, shard_of
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.domain.time.timezones import load_timezone, to_wall_time

# Partitions of the due index that the scanner does not read. Only tasks in BLOCKED time out. A
# blocked task's due_at is never later than the moment it was blocked.
AWAITING_FIX, BLOCKED, AWAITING_RESOLUTION = -1, -2, -3
# In older items with this `retry_lane`, `next_retry_at` is the deadline of a verification.
_TO_VERIFY = "to_verify"


# Attributes named like a field that may hold something else.
_DERIVED = ("anchor",)
_FIELDS = frozenset(field.name for field in fields(Task)) - {"unknown_attributes"}
_STORED_UNCHANGED = _FIELDS.difference(_DERIVED)
_CODEC = ItemCodec(TaskItem)


def to_item(task: Task, *, shard_count: int, retention: timedelta) -> TaskItem:
    values = _to_values(task, shard_count, retention)
    item = TaskItem(**{name: value for name, value in values.items() if value is not None})
    item.unknown_attributes = task.unknown_attributes
    return item


def to_stored(task: Task, *, shard_count: int, retention: timedelta) -> Stored:
    """Return the item as it is stored: `to_item(…).serialize()` in a quarter of the time."""
    values = _to_values(task, shard_count, retention)
    values["schema_version"] = TaskItem.schema_version.current
    stored = {**task.unknown_attributes, **_CODEC.encode(values)}
    return pack(stored) if TaskItem.is_packed else stored


def _to_values(task: Task, shard_count: int, retention: timedelta) -> dict[str, Any]:
    values = {name: getattr(task, name) for name in _STORED_UNCHANGED}
    return (
        values
        | _indexed(task, shard_count)
        | {
            "short_id": task.short_id,
            "anchor": _stored_anchor(task),
            "expires_at": _expiry(task, retention),
        }
    )


def _indexed(task: Task, shard_count: int) -> dict[str, Any]:
    """Return the index keys; None where the task does not belong in the index.

    The sender's entry stays when the task ends: removing it would cost a write unit.
    """
    shard = shard_of(task.id, shard_count)
    return {
        "shard": shard,
        "due_shard": _due_shard(task, shard, shard_count),
        "open_sender": sender_key(task.channel, task.sender_id),
    }


def _due_shard(task: Task, shard: int, shard_count: int) -> int | None:
    if task.status is Status.BLOCKED:
        return _blocked_partition(task)
    lane = lane_of(task)
    return None if lane is None else partition_of(lane, shard, shard_count)


def is_in_due_shard(task: Task) -> bool:
    """Return whether the task is in a lane of the due index that the scanner reads."""
    return task.is_scheduled or task.status is Status.IN_PROGRESS


def _blocked_partition(task: Task) -> int:
    if is_awaiting_fix(task):
        return AWAITING_FIX
    return AWAITING_RESOLUTION if is_awaiting_resolution(task) else BLOCKED


def to_task(item: TaskItem) -> Task:
    """Return the task. Raises UnreadableItemError, and nothing else."""
    return read_item(
        item, lambda item: _build_task(dict(item.attribute_values), item.unknown_attributes)
    )


def from_stored(stored: Stored) -> Task:
    """Return the task of a stored item. Raises UnreadableItemError, and nothing else."""
    try:
        values, unknown = _CODEC.decode(unpack(stored))
        return _build_task(values, unknown)
    except Exception:  # noqa: BLE001 - the model says what cannot be read
        return to_task(TaskItem.from_raw_data(stored))


def _build_task(values: dict[str, Any], unknown_attributes: Mapping[str, Any]) -> Task:
    values = upgrade_task(values, int(values.get("schema_version") or BEFORE_VERSIONS))
    if values.get("retry_lane") == _TO_VERIFY:
        values.pop("next_retry_at", None)
    zone = load_timezone(values["timezone"])  # also checks the zone, in case the anchor is stored
    values.setdefault("anchor", to_wall_time(values["nominal_at"], zone))
    values = {name: value for name, value in values.items() if name in _FIELDS}
    return Task(**values, unknown_attributes=unknown_attributes)


def sender_key(channel: str, sender_id: str) -> str:
    return f"{channel}#{sender_id}"


def hash_key_of(task_id: str) -> str:
    return task_id[:SHORT_ID_LENGTH]


def _expiry(task: Task, retention: timedelta) -> int | None:
    if task.is_open:
        return None
    ended_at = task.run.ended_at if task.run else None
    closed_at = task.closed_at or ended_at or max(task.created_at, task.due_at)
    return int((closed_at + retention).timestamp())


def _stored_anchor(task: Task) -> datetime | None:
    """Return the anchor, or None if it follows from `nominal_at` and the zone."""
    usual = to_wall_time(task.nominal_at, load_timezone(task.timezone))
    return None if task.anchor == usual else task.anchor
