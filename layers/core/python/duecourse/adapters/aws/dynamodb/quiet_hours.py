"""Quiet hours on DynamoDB, cached for a minute.

Owners are spread by hash over SHARD_COUNT items of the state table. One more item lists the shards
in use, so nothing else is read for owners in unused shards. Beside the hours of an owner is the
time at which they expire; a TTL would remove the whole item.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from datetime import datetime, timedelta
from urllib.parse import quote

from pynamodb.expressions.operand import Path
from pynamodb.expressions.update import Action

from duecourse.adapters.aws.dynamodb.conditions import update_if
from duecourse.adapters.aws.dynamodb.models import QuietItem
from duecourse.adapters.aws.dynamodb.raw_items import find_item
from duecourse.domain.chat.settings_retention import needs_renewal, settings_expiry
from duecourse.domain.lifecycle.quiet_hours import QuietHours
from duecourse.domain.tasks.owner import Owner
from duecourse.domain.time.instant import from_text, to_text
from duecourse.ports.runtime import Clock

SHARD_COUNT = 64  # each holds up to 400 KB, which is thousands of owners
CACHE_TTL = timedelta(seconds=60)
_INDEX_KEY = "quiet"
_OWNER_PREFIX, _EXPIRY_PREFIX = "of#", "until#"


class DynamoQuietHoursStore:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._cache: dict[str, tuple[QuietItem, datetime]] = {}

    def is_unused(self) -> bool:
        return not _used_shards(self._load_cached(_INDEX_KEY))

    def get_cached(self, owner: Owner) -> QuietHours | None:
        shard = _shard_of(owner)
        if shard not in _used_shards(self._load_cached(_INDEX_KEY)):
            return None
        return _read_owner(self._load_cached(_shard_key(shard)), owner)

    def get(self, owner: Owner) -> QuietHours | None:
        return _read_owner(_load(_shard_key(_shard_of(owner)), is_consistent=True), owner)

    def set(self, owner: Owner, quiet_hours: QuietHours | None) -> None:
        """Store or remove the owner's quiet hours.

        The shard is marked as used last, so a reader that sees the mark also finds the entry.
        """
        shard, name = _shard_of(owner), _owner_field(owner)
        hours, expiry = Path([name]), Path([_expiry_field(name)])
        actions: list[Action] = (
            [hours.remove(), expiry.remove()]
            if quiet_hours is None
            else [hours.set(quiet_hours.to_text()), expiry.set(self._new_expiry())]
        )
        QuietItem(_shard_key(shard)).update(actions)
        if quiet_hours is not None and shard not in _used_shards(
            _load(_INDEX_KEY, is_consistent=True)
        ):
            QuietItem(_INDEX_KEY).update([QuietItem.shards.add({shard})])
        self._cache.clear()

    def renew(self, owner: Owner) -> None:
        if self.get_cached(owner) is None:
            return
        shard, name = _shard_of(owner), _owner_field(owner)
        item = self._load_cached(_shard_key(shard))
        expires_at = item.texts.get(_expiry_field(name))
        if needs_renewal(from_text(expires_at) if expires_at else None, now=self._clock.now()):
            self._set_expiry(item, name)
            self._cache.clear()

    def expire(self) -> int:
        count = 0
        for shard in sorted(_used_shards(_load(_INDEX_KEY, is_consistent=True))):
            item = _load(_shard_key(int(shard)), is_consistent=True)
            for name in _owner_fields(item):
                count += self._expire_owner(item, name)
        self._cache.clear()
        return count

    def _expire_owner(self, item: QuietItem, name: str) -> bool:
        """Remove the owner's hours if they expired. Those of an older version get an expiry."""
        expires_at = item.texts.get(_expiry_field(name))
        if expires_at is None:
            self._set_expiry(item, name)
            return False
        if from_text(expires_at) > self._clock.now():
            return False
        expiry = Path([_expiry_field(name)])
        return update_if(
            item, [Path([name]).remove(), expiry.remove()], condition=expiry == expires_at
        )

    def _set_expiry(self, item: QuietItem, name: str) -> None:
        """Set the expiry, unless the hours have been removed."""
        action = Path([_expiry_field(name)]).set(self._new_expiry())
        update_if(item, [action], condition=Path([name]).exists())

    def _new_expiry(self) -> str:
        return to_text(settings_expiry(self._clock.now()))

    def _load_cached(self, key: str) -> QuietItem:
        now = self._clock.now()
        item, read_at = self._cache.get(key, (None, now))
        if item is None or now - read_at >= CACHE_TTL:
            item = _load(key, is_consistent=False)
            self._cache[key] = item, now
        return item


def _load(key: str, *, is_consistent: bool) -> QuietItem:
    return find_item(QuietItem, key, is_consistent=is_consistent) or QuietItem.empty(key)


def _used_shards(item: QuietItem) -> set[float]:
    return item.shards or set()


def _read_owner(item: QuietItem, owner: Owner) -> QuietHours | None:
    stored = item.texts.get(_owner_field(owner))
    try:
        return QuietHours.from_text(stored) if stored else None
    except ValueError:
        return None  # the stored zone no longer exists: do not defer reminders


def _shard_of(owner: Owner) -> int:
    return hashlib.sha256(_owner_field(owner).encode()).digest()[0] % SHARD_COUNT


def _shard_key(shard: int) -> str:
    return f"{_INDEX_KEY}#{shard}"


def _owner_fields(item: QuietItem) -> Iterator[str]:
    return (name for name in item.texts if name.startswith(_OWNER_PREFIX))


def _expiry_field(owner_field: str) -> str:
    return f"{_EXPIRY_PREFIX}{owner_field.removeprefix(_OWNER_PREFIX)}"


def _owner_field(owner: Owner) -> str:
    """Return an attribute name that differs from all others and is not parsed as a path."""
    return f"{_OWNER_PREFIX}{owner.channel}#{quote(owner.sender_id, safe='')}"
