"""Quiet hours, in few items that are read seldom and kept for a minute.

By a hash, owners are spread over items of the state table. One more item tells in which of them
there is anybody, so that where nobody has quiet hours nothing else is read.
"""

from __future__ import annotations

import hashlib
from datetime import datetime, timedelta
from urllib.parse import quote

from pynamodb.exceptions import DoesNotExist
from pynamodb.expressions.operand import Path

from duecourse.adapters.aws.dynamodb.models import QuietItem
from duecourse.domain.lifecycle.quiet_hours import QuietTime
from duecourse.domain.tasks.owner import Owner
from duecourse.ports.runtime import Clock

SHARDS = 64  # of at most 400 kilobytes: room for thousands in each
KEPT = timedelta(seconds=60)
_IN_USE = "quiet"


class DynamoQuietHours:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._kept: dict[str, tuple[QuietItem, datetime]] = {}

    def of(self, owner: Owner) -> QuietTime | None:
        shard = _shard(owner)
        if shard not in _in_use(self._item(_IN_USE)):
            return None
        return _found(self._item(_key(shard)), owner)

    def latest(self, owner: Owner) -> QuietTime | None:
        return _found(_read(_key(_shard(owner)), is_latest=True), owner)

    def set(self, owner: Owner, quiet: QuietTime | None) -> None:
        """The item is told to be in use last: whoever asks then finds what is in it."""
        shard, field = _shard(owner), Path([_field(owner)])
        move = field.remove() if quiet is None else field.set(quiet.to_text())
        QuietItem(_key(shard)).update([move])
        if quiet is not None and shard not in _in_use(_read(_IN_USE, is_latest=True)):
            QuietItem(_IN_USE).update([QuietItem.shards.add({shard})])
        self._kept.clear()

    def _item(self, key: str) -> QuietItem:
        now = self._clock.now()
        item, read_at = self._kept.get(key, (None, now))
        if item is None or now - read_at >= KEPT:
            item = _read(key, is_latest=False)
            self._kept[key] = item, now
        return item


def _read(key: str, *, is_latest: bool) -> QuietItem:
    try:
        return QuietItem.get(key, consistent_read=is_latest)
    except DoesNotExist:
        return QuietItem.empty(key)


def _in_use(item: QuietItem) -> set[float]:
    return item.shards or set()


def _found(item: QuietItem, owner: Owner) -> QuietTime | None:
    stored = item.texts.get(_field(owner))
    try:
        return QuietTime.from_text(stored) if stored else None
    except ValueError:
        return None  # zones are renamed now and then: nobody's reminder waits for that


def _shard(owner: Owner) -> int:
    return hashlib.sha256(_field(owner).encode()).digest()[0] % SHARDS


def _key(shard: int) -> str:
    return f"{_IN_USE}#{shard}"


def _field(owner: Owner) -> str:
    """Like no other attribute of the item, and never like a path into one."""
    return f"of#{owner.channel}#{quote(owner.sender_id, safe='')}"
