"""Parse records of the DynamoDB streams: changes of tasks and of circuit breakers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from duecourse.adapters.aws.dynamodb.journal import to_event
from duecourse.adapters.aws.dynamodb.journal_models import JournalItem
from duecourse.adapters.aws.dynamodb.stored_item import read_items
from duecourse.adapters.aws.dynamodb.task_mapper import from_stored
from duecourse.domain.errors import UnreadableItemError
from duecourse.domain.events.event import LiveEvent, build_live_events, to_breaker_event
from duecourse.domain.events.stream_change import StreamChange
from duecourse.domain.tasks.task import Task

Record = dict[str, Any]
NO_SHARD = "none"  # of an event without a window, such as a sample event
_TTL_PRINCIPAL = "dynamodb.amazonaws.com"  # deletes what has expired


def sequence_number(record: Record) -> str:
    return str(record["dynamodb"]["SequenceNumber"])


def is_task_record(record: Record) -> bool:
    return "id" in record["dynamodb"]["Keys"]


def written_at(record: Record) -> datetime:
    return datetime.fromtimestamp(float(record["dynamodb"]["ApproximateCreationDateTime"]), tz=UTC)


def shard_of(event: Mapping[str, Any]) -> str:
    """Return the id of the stream's shard. Lambda tells it to consumers with a tumbling window."""
    return str(event.get("shardId") or NO_SHARD)


def parse_changes(records: Sequence[Record]) -> list[StreamChange]:
    """Return the changes. The new image of a task is often the old one of its next change."""
    latest: dict[str, tuple[Record, Task | None]] = {}

    def read(image: Record | None) -> Task | None:
        if not image:
            return None
        name = str(image.get("id"))
        known, task = latest.get(name, (None, None))
        if known == image:
            return task
        task = from_stored(image)
        latest[name] = image, task
        return task

    return [parse_change(record, read) for record in records]


def parse_change(
    record: Record, read: Callable[[Record | None], Task | None] | None = None
) -> StreamChange:
    """Return the change. An unreadable image does not raise: Lambda would retry it forever."""
    read = read or _task_from_image
    images, at = record["dynamodb"], written_at(record)
    number = sequence_number(record)
    if not is_task_record(record):
        events = breaker_events(record)
        return StreamChange(sequence_number=number, written_at=at, breaker_events=events)
    is_known, sides = True, {}
    for name in ("OldImage", "NewImage"):
        try:
            sides[name] = read(images.get(name))
        except UnreadableItemError:
            is_known, sides[name] = False, None
    return StreamChange(
        sequence_number=number,
        written_at=at,
        task_id=images["Keys"]["id"]["S"],
        old=sides["OldImage"],
        new=sides["NewImage"],
        is_known=is_known,
        is_deleted=_is_deleted(record),
    )


def _is_deleted(record: Record) -> bool:
    deleted_by = (record.get("userIdentity") or {}).get("principalId")
    return record.get("eventName") == "REMOVE" and deleted_by != _TTL_PRINCIPAL


def breaker_events(record: Record) -> list[LiveEvent]:
    """Return the live events of a journal record, which is always about a circuit breaker.

    The state table has no stream, so breaker events come through the journal's. An unreadable entry
    is skipped, as in the history.
    """
    item = JournalItem.from_raw_data(record["dynamodb"]["NewImage"])
    return list(read_items([item], _to_breaker_event))


def _to_breaker_event(item: JournalItem) -> LiveEvent:
    _, version, _ = item.entry.split("#")
    return to_breaker_event(to_event(item), int(version))


def parse_live_events(record: Record) -> list[LiveEvent]:
    """Return the live events of a record. The same record always gives the same event ids."""
    if not is_task_record(record):
        return breaker_events(record)
    change = parse_change(record)
    if not change.is_known:
        return []
    return build_live_events(change.old, change.new, at=change.written_at)


def _task_from_image(image: dict[str, Any] | None) -> Task | None:
    return from_stored(image) if image else None
