"""Records of the tables' streams, read as what they tell: a task changed, or a breaker did."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from duecourse.adapters.dynamodb.items import JournalItem
from duecourse.adapters.dynamodb.journal import task_from_image, to_event
from duecourse.domain.live_event import LiveEvent, live_events, of_breaker
from duecourse.domain.task import Task

Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class TaskChange:
    """`at` is when it was written, rounded down to a second."""

    old: Task | None
    new: Task | None
    at: datetime


def sequence_of(record: Record) -> str:
    return str(record["dynamodb"]["SequenceNumber"])


def subject_of(record: Record) -> str:
    """What the record is about: changes of the same keep their order."""
    keys = record["dynamodb"]["Keys"]
    return str(keys["id" if is_of_task(record) else "task_id"]["S"])


def is_of_task(record: Record) -> bool:
    return "id" in record["dynamodb"]["Keys"]


def written_at(record: Record) -> datetime:
    return datetime.fromtimestamp(float(record["dynamodb"]["ApproximateCreationDateTime"]), tz=UTC)


def task_change(record: Record) -> TaskChange:
    change = record["dynamodb"]
    return TaskChange(
        task_from_image(change.get("OldImage")),
        task_from_image(change.get("NewImage")),
        written_at(record),
    )


def breaker_events(record: Record) -> list[LiveEvent]:
    """Of the journal's stream, only what happened to breakers comes: they have no stream.

    An event of a type that this code does not know is left out, as it is from a history.
    """
    item = JournalItem()
    item.deserialize(record["dynamodb"]["NewImage"])
    _, version, _ = item.entry.split("#")
    event = to_event(item)
    return [] if event is None else [of_breaker(event, int(version))]


def live_events_of(record: Record) -> list[LiveEvent]:
    """The same record always gives the same events with the same ids."""
    if not is_of_task(record):
        return breaker_events(record)
    change = task_change(record)
    return live_events(change.old, change.new, at=change.at)
