"""Lanes of the due index: what kind of work a due task is, and so which queue it goes to.

A partition of the index is a lane and a shard in one number. Code before lanes wrote the shard
alone, which reads as NEW_REMINDER: there, a task may be of any kind.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import Any

LANE_SIZE = 1000  # shards that a lane can have; a deployment has at most 64
_NARROW_FACTOR = 4


class Lane(IntEnum):
    """The values are stored: add lanes, never renumber them."""

    NEW_REMINDER = 0  # at its own time, and it never ran: claimed without a read
    REMINDER = 1  # other first attempts of reminders: later occurrences, deferred ones
    SLOW = 2  # first attempts of all other types
    REMINDER_RETRY = 3
    SLOW_RETRY = 4
    LONG_RETRY = 5  # waits so long that the retry limit does not count it
    VERIFICATION = 6
    PAUSED = 7  # from here on: never due, in the index only to be listed
    FAILED = 8

    @property
    def is_slow(self) -> bool:
        """Return whether the work goes to the slow queue, where nothing waits behind it."""
        return self in _SLOW_LANES

    def shard_count(self, shard_count: int) -> int:
        """Return how many shards the lane has. Lanes with few tasks have fewer to read."""
        return max(1, shard_count // _NARROW_FACTOR) if self in _NARROW_LANES else shard_count


_SLOW_LANES = frozenset({Lane.SLOW, Lane.SLOW_RETRY, Lane.LONG_RETRY, Lane.VERIFICATION})
_NARROW_LANES = frozenset({Lane.LONG_RETRY, Lane.VERIFICATION, Lane.PAUSED})
FIRST_ATTEMPT_LANES = (Lane.NEW_REMINDER, Lane.REMINDER, Lane.SLOW)
RETRY_LANES = (Lane.REMINDER_RETRY, Lane.SLOW_RETRY, Lane.LONG_RETRY)
_BY_NUMBER = {int(lane): lane for lane in Lane}
DUE_LANES = (*FIRST_ATTEMPT_LANES, *RETRY_LANES, Lane.VERIFICATION)


def partition_of(lane: Lane, shard: int, shard_count: int) -> int:
    """Return the partition of the due index for a task of `shard` (of `shard_count`)."""
    return lane * LANE_SIZE + shard % lane.shard_count(shard_count)


def partitions_of(lanes: Iterable[Lane], shard_count: int) -> list[int]:
    """Return all partitions of the lanes."""
    return [
        lane * LANE_SIZE + shard for lane in lanes for shard in range(lane.shard_count(shard_count))
    ]


def lane_of_partition(partition: int) -> Lane | None:
    """Return the lane, or None if only newer code knows it."""
    return lane_from_number(partition // LANE_SIZE)


def lane_from_number(number: Any) -> Lane | None:
    """Return the lane with the stored number, or None if there is none."""
    return _BY_NUMBER.get(number) if type(number) is int else None


def shard_of_partition(partition: int) -> int:
    return partition % LANE_SIZE
