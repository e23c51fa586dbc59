"""Event sources that misbehave as AWS may: messages come twice, late or out of order.

A stream's batches are cut, delayed and repeated. All of it happens while the faults last.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from local.runtime.queue_sources import QueueSource
from local.runtime.stream_sources import StreamSource
from local.simulate.fault_rates import Strike

USUAL_LATE_SECONDS = 1_200.0
MAX_LATE_SECONDS = 2 * 86_400.0
_USUAL_PART = 0.9  # of the late messages
MIN_REORDERED = 2
MAX_BATCH_DELAY_SECONDS = 60.0


@dataclass
class HostileQueue:
    """`strike` returns a number below 1 if the fault strikes at the point, otherwise None.

    Only a standard queue delivers twice or out of order; `messages` returns what it holds.
    """

    source: QueueSource
    name: str
    messages: Callable[[], list[Any]]
    strike: Strike
    is_fifo: bool
    _seen: set[str] = field(default_factory=set)
    _numbers: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        delete = self.source.delete
        self.source.delete = lambda messages, reply: self._delete(delete, messages, reply)  # type: ignore[method-assign]

    def take_due(self, now: datetime) -> Sequence[Callable[[], None]]:
        if not self.is_fifo:
            self._disturb()
        return self.source.take_due(now)

    def next_at(self, now: datetime, until: datetime | None) -> datetime | None:
        return self.source.next_at(now, until)

    def _disturb(self) -> None:
        for message in list(self.messages()):
            if message.id in self._seen:
                continue
            self._seen.add(message.id)
            point = f"{self.name} message {len(self._seen)}"
            if (part := self.strike("late-message", point)) is not None:
                message.available_at += delay_seconds(part)
            if (part := self.strike("duplicate-message", point)) is not None:
                other = copy(message)
                other.handles = []
                other.available_at += delay_seconds(part)
                self.messages().append(other)
            self._reorder(message, point)

    def _reorder(self, message: Any, point: str) -> None:
        """Move the message to another place among those that wait with it."""
        messages = self.messages()
        if len(messages) < MIN_REORDERED:
            return
        if (part := self.strike("reordered-message", point)) is not None:
            messages.remove(message)
            messages.insert(int(part * len(messages)), message)

    def _delete(
        self, delete: Callable[[list[Any], Any], None], messages: list[Any], reply: Any
    ) -> None:
        self._numbers["delete"] = self._numbers.get("delete", 0) + 1
        if self.strike("lost-delete", f"{self.name} delete {self._numbers['delete']}") is None:
            delete(messages, reply)


def delay_seconds(part: float) -> float:
    """Return how late a message is, for a number from 0 to 1: minutes mostly, days at worst."""
    if part < _USUAL_PART:
        return (part / _USUAL_PART) ** 3 * USUAL_LATE_SECONDS
    exponent = (part - _USUAL_PART) / (1 - _USUAL_PART)
    return USUAL_LATE_SECONDS * math.pow(MAX_LATE_SECONDS / USUAL_LATE_SECONDS, exponent)


@dataclass
class HostileStream:
    source: StreamSource
    name: str
    strike: Strike
    _batches: int = 0

    def __post_init__(self) -> None:
        advance = self.source.advance
        self.source.advance = lambda count: self._advance(advance, count)  # type: ignore[method-assign]

    def take_due(self, now: datetime) -> Sequence[Callable[[], None]]:
        due = self.source.take_due(now)
        if due:
            self._batches += 1
            if (part := self.strike("cut-batch", f"{self.name} batch {self._batches}")) is not None:
                self.source.batch_size = 1 + int(part * 3)
        return due

    def next_at(self, now: datetime, until: datetime | None) -> datetime | None:
        return self.source.next_at(now, until)

    def _advance(self, advance: Callable[[int], None], count: int) -> None:
        """Move on in the stream, or not: then Lambda delivers the same records again."""
        point = f"{self.name} batch {self._batches}"
        if self.strike("repeated-batch", point) is None:
            advance(count)
        if (part := self.strike("delayed-batch", point)) is not None:
            self.source.wait(part * MAX_BATCH_DELAY_SECONDS)
