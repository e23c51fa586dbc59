"""Circuit breakers, one state item per provider, replaced only if its version is unchanged."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from datetime import datetime, timedelta

from pynamodb.exceptions import PutError, TransactWriteError
from pynamodb.expressions.condition import Condition

from duecourse.adapters.aws.dynamodb.breaker_mapper import to_breaker, to_stored
from duecourse.adapters.aws.dynamodb.breaker_models import BreakerItem, breaker_key
from duecourse.adapters.aws.dynamodb.breaker_names import add_name, list_names, remove_names
from duecourse.adapters.aws.dynamodb.conditions import is_conflict
from duecourse.adapters.aws.dynamodb.journal_models import JournalItem
from duecourse.adapters.aws.dynamodb.older_breakers import OlderBreakers
from duecourse.adapters.aws.dynamodb.raw_items import find_item
from duecourse.adapters.aws.dynamodb.stored_item import read_item, read_items
from duecourse.adapters.aws.dynamodb.transaction import write_transaction
from duecourse.domain.errors import UnreadableItemError
from duecourse.domain.limits.circuit_breaker import CircuitBreaker
from duecourse.domain.limits.circuit_breakers import (
    MAX_BREAKERS,
    StaleCircuitBreakerError,
    StoredBreaker,
    least_needed,
    provider_key,
)
from duecourse.domain.tasks.event import Event
from duecourse.domain.time.instant import to_text
from duecourse.ports.runtime import Clock

CACHE_TTL = timedelta(seconds=3)


class DynamoCircuitBreakerStore:
    def __init__(self, clock: Clock, *, retention: timedelta) -> None:
        self._clock = clock
        self._retention = retention
        self._cache: dict[str, tuple[StoredBreaker, datetime]] = {}
        self._older = OlderBreakers(clock)

    def get(self, provider: str) -> StoredBreaker:
        return self._read(provider_key(provider), is_consistent=True)

    def get_cached(self, provider: str) -> StoredBreaker:
        name = provider_key(provider)
        stored, read_at = self._cache.get(name, (None, self._clock.now()))
        # A clock that was set back must not keep the copy for longer.
        if stored is None or abs(self._clock.now() - read_at) >= CACHE_TTL:
            return self._read(name, is_consistent=False)
        return stored

    def get_last_read(self, provider: str) -> StoredBreaker:
        found = self._cache.get(provider_key(provider))
        return found[0] if found else StoredBreaker()

    def list_all(self) -> Mapping[str, CircuitBreaker]:
        keys = [breaker_key(name) for name in list_names()]
        items = BreakerItem.batch_get(keys) if keys else ()
        own = dict(read_items(items, _to_named_breaker))
        return {**self._older.list_all(), **own}

    def make_room(self) -> None:
        names = list_names()
        if len(names) < MAX_BREAKERS:
            return
        breakers = {name: CircuitBreaker() for name in names} | dict(self.list_all())
        remove_names(least_needed({name: breakers[name] for name in names}))

    def save(
        self, provider: str, before: StoredBreaker, after: CircuitBreaker, event: Event | None
    ) -> None:
        name = provider_key(provider)
        if event is not None or not before.version:
            add_name(name)  # before the write: a crash leaves a name without an item
        # Two writers may compute the same change. The token shows whether a lost condition was our
        # own write, whose response was lost.
        token = str(uuid.uuid4())
        item = self._to_item(name, before, after, token)
        try:
            self._write(item, _unchanged(before), event)
        except (PutError, TransactWriteError) as error:
            if not is_conflict(error):
                raise
            if not _is_written_by(token, item.key):
                raise StaleCircuitBreakerError from error
        self._put_cached(name, StoredBreaker(after, int(item.version or 0)))

    def _read(self, name: str, *, is_consistent: bool) -> StoredBreaker:
        """Return the breaker. What is unreadable is recorded and counts as closed.

        A corrupt item is replaced by the next change; an item of newer code never is.
        """
        item = find_item(BreakerItem, breaker_key(name), is_consistent=is_consistent)
        if item is None:
            return self._put_cached(name, StoredBreaker(self._older.get(name)))
        try:
            stored = read_item(item, _to_stored_breaker)
        except UnreadableItemError:
            version = int(item.version or 0)
            stored = StoredBreaker(version=version, is_read_only=item.is_newer)
        return self._put_cached(name, stored)

    def _put_cached(self, name: str, stored: StoredBreaker) -> StoredBreaker:
        self._cache.pop(name, None)
        self._cache[name] = (stored, self._clock.now())
        while len(self._cache) > MAX_BREAKERS:
            self._cache.pop(next(iter(self._cache)))
        return stored

    def _to_item(
        self, name: str, before: StoredBreaker, after: CircuitBreaker, token: str
    ) -> BreakerItem:
        """Return the item with a version that is at least the time in seconds.

        So versions, and with them the ids of events, are never used twice, although items expire.
        """
        seconds = int(self._clock.now().timestamp())
        return BreakerItem(
            breaker_key(name),
            value={"written_by": token, "breaker": to_stored(after)},
            version=max(before.version + 1, seconds),
            expires_at=seconds + int(self._retention.total_seconds()),
        )

    def _write(self, item: BreakerItem, condition: Condition, event: Event | None) -> None:
        if event is None:
            item.save(condition)
            return
        with write_transaction() as transaction:
            transaction.save(item, condition)
            transaction.save(self._to_journal_item(event, int(item.version or 0)))

    def _to_journal_item(self, event: Event, version: int) -> JournalItem:
        return JournalItem(
            event.task_id,
            f"e#{version:010d}#0",
            at=to_text(event.at),
            type=str(event.type),
            detail=event.detail,
            expires_at=int((event.at + self._retention).timestamp()),
        )


def _unchanged(before: StoredBreaker) -> Condition:
    # The version of a corrupt item may be missing or no number.
    is_first = ~BreakerItem.version.is_type()
    return BreakerItem.version == before.version if before.version else is_first


def _to_stored_breaker(item: BreakerItem) -> StoredBreaker:
    return StoredBreaker(to_breaker(item.value["breaker"]), int(item.version or 0))


def _to_named_breaker(item: BreakerItem) -> tuple[str, CircuitBreaker]:
    return item.provider, to_breaker(item.value["breaker"])


def _is_written_by(token: str, key: str) -> bool:
    item = find_item(BreakerItem, key, is_consistent=True)
    try:
        return item is not None and read_item(
            item, lambda stored: bool(stored.value["written_by"] == token)
        )
    except UnreadableItemError:
        return False  # we wrote a readable one
