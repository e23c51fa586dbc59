"""Parse records of the DynamoDB streams: changes of tasks and of circuit breakers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from duecourse.adapters.aws.dynamodb.journal import task_from_image, to_event
from duecourse.adapters.aws.dynamodb.models import JournalItem
from duecourse.adapters.aws.dynamodb.stored_item import read_items
from duecourse.domain.errors import UnreadableItemError
from duecourse.domain.events.event import LiveEvent, build_live_events, to_breaker_event
from duecourse.domain.tasks.task import Task

Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class TaskChange:
    """A change of a task. `at` is the time of the write, rounded down to a second.

    `is_known` is False if one of the two images is unreadable. `new` is then the new task, if at
    least that one is readable.
    """

    old: Task | None
    new: Task | None
    at: datetime
    is_known: bool = True


def sequence_number(record: Record) -> str:
    return str(record["dynamodb"]["SequenceNumber"])


def ordering_key(record: Record) -> str:
    """Return the id whose changes have to be processed in order."""
    keys = record["dynamodb"]["Keys"]
    return str(keys["id" if is_task_record(record) else "task_id"]["S"])


def is_task_record(record: Record) -> bool:
    return "id" in record["dynamodb"]["Keys"]


def written_at(record: Record) -> datetime:
    return datetime.fromtimestamp(float(record["dynamodb"]["ApproximateCreationDateTime"]), tz=UTC)


def parse_task_change(record: Record) -> TaskChange:
    """Return the change of a task.

    An unreadable image does not raise: Lambda would retry it forever.
    """
    images, at = record["dynamodb"], written_at(record)
    is_known, sides = True, {}
    for name in ("OldImage", "NewImage"):
        try:
            sides[name] = task_from_image(images.get(name))
        except UnreadableItemError:
            is_known, sides[name] = False, None
    return TaskChange(sides["OldImage"], sides["NewImage"], at, is_known)


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
    change = parse_task_change(record)
    if not change.is_known:
        return []
    return build_live_events(change.old, change.new, at=change.at)
