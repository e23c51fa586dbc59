"""A queue of SQS: delays, visibility timeouts, FIFO groups, deduplication and redrive."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

DEDUPLICATION_SECONDS = 300
_DEFAULTS = {"VisibilityTimeout": "30", "DelaySeconds": "0", "MessageRetentionPeriod": "345600"}


@dataclass(eq=False)
class Message:
    """Times are seconds since the epoch. `available_at` is when it can be received (again)."""

    id: str
    body: str
    sent_at: float
    available_at: float
    group: str | None = None
    deduplication_id: str | None = None
    sequence_number: int = 0
    receive_count: int = 0
    first_received_at: float | None = None
    handles: list[str] = field(default_factory=list)

    @property
    def is_received(self) -> bool:
        return self.receive_count > 0


class Queue:
    def __init__(self, name: str, url: str, arn: str, attributes: dict[str, str]) -> None:
        self.name = name
        self.url = url
        self.arn = arn
        self.attributes = {**_DEFAULTS, **attributes}
        self.messages: list[Message] = []
        self._deduplicated: dict[str, Message] = {}
        redrive = json.loads(attributes.get("RedrivePolicy") or "{}")
        self.dead_letter_arn: str | None = redrive.get("deadLetterTargetArn")
        self.max_receive_count = int(redrive.get("maxReceiveCount", 0))

    @property
    def is_fifo(self) -> bool:
        return self.name.endswith(".fifo")

    def seconds(self, attribute: str) -> int:
        return int(self.attributes[attribute])

    def add(self, message: Message) -> Message:
        """Add the message. Return it, or the earlier one of which it is a duplicate."""
        if message.deduplication_id is not None:
            earlier = self._deduplicated.get(message.deduplication_id)
            if earlier and message.sent_at - earlier.sent_at < DEDUPLICATION_SECONDS:
                return earlier
            self._deduplicated[message.deduplication_id] = message
        self.messages.append(message)
        return message

    def next_available_at(self) -> float | None:
        """Return when a message can be received: of a FIFO group when all its messages can."""
        if not self.messages:
            return None
        if not self.is_fifo:
            return min(one.available_at for one in self.messages)
        latest: dict[str | None, float] = {}
        for one in self.messages:
            latest[one.group] = max(one.available_at, latest.get(one.group, one.available_at))
        return min(latest.values(), default=None)

    def take(self, now: float, count: int) -> tuple[list[Message], list[Message]]:
        """Return up to `count` messages to deliver, and those for the dead-letter queue.

        A FIFO group with a hidden message delivers nothing.
        """
        self._expire(now)
        blocked = {one.group for one in self.messages if self.is_fifo and one.available_at > now}
        delivered: list[Message] = []
        dead: list[Message] = []
        for one in self.messages:
            if len(delivered) == count:
                break
            if one.available_at > now or (self.is_fifo and one.group in blocked):
                continue
            is_dead = self.dead_letter_arn and one.receive_count >= self.max_receive_count
            (dead if is_dead else delivered).append(one)
        if dead:
            self.messages = [one for one in self.messages if one not in dead]
        return delivered, dead

    def find(self, handle: str) -> Message | None:
        return next((one for one in self.messages if handle in one.handles), None)

    def count(self, now: float) -> dict[str, str]:
        hidden = [one for one in self.messages if one.available_at > now]
        in_flight = sum(one.is_received for one in hidden)
        return {
            "ApproximateNumberOfMessages": str(len(self.messages) - len(hidden)),
            "ApproximateNumberOfMessagesNotVisible": str(in_flight),
            "ApproximateNumberOfMessagesDelayed": str(len(hidden) - in_flight),
        }

    def _expire(self, now: float) -> None:
        oldest = now - self.seconds("MessageRetentionPeriod")
        if any(one.sent_at <= oldest for one in self.messages):
            self.messages = [one for one in self.messages if one.sent_at > oldest]


def describe_attributes(message: Message) -> dict[str, str]:
    """Return the message's system attributes as SQS names them."""
    found: dict[str, Any] = {
        "SenderId": "lean",
        "SentTimestamp": int(message.sent_at * 1000),
        "ApproximateReceiveCount": message.receive_count,
        "ApproximateFirstReceiveTimestamp": int((message.first_received_at or 0) * 1000),
    }
    if message.group is not None:
        found["MessageGroupId"] = message.group
        found["SequenceNumber"] = f"{message.sequence_number:020d}"
    if message.deduplication_id is not None:
        found["MessageDeduplicationId"] = message.deduplication_id
    return {name: str(value) for name, value in found.items()}
