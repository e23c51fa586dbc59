"""The circuit breakers as version 0.1 stored them: all providers in one item.

A provider's entry counts until the provider has an item of its own. This code never writes the old
item, so what the old code writes beside it during a deployment stays readable for both.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from duecourse.adapters.aws.dynamodb.breaker_mapper import to_breaker
from duecourse.adapters.aws.dynamodb.models import StateItem
from duecourse.adapters.aws.dynamodb.raw_items import find_item
from duecourse.adapters.aws.dynamodb.stored_item import read_item
from duecourse.adapters.runtime.unreadable_items import set_aside
from duecourse.domain.errors import UnreadableItemError
from duecourse.domain.limits.circuit_breaker import CircuitBreaker
from duecourse.ports.runtime import Clock

STATE_KEY = "breakers"
CACHE_TTL = timedelta(seconds=60)
# Nothing writes the item once 0.1 is replaced. Until then, a container that missed a breaker of 0.1
# opens its own after ten failures.
EMPTY_CACHE_TTL = timedelta(minutes=15)


class OlderBreakers:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._cached: tuple[Mapping[str, CircuitBreaker], datetime] | None = None

    def get(self, name: str) -> CircuitBreaker:
        found, read_at = self._cached or ({}, None)
        ttl = CACHE_TTL if found else EMPTY_CACHE_TTL
        if read_at is None or abs(self._clock.now() - read_at) >= ttl:
            found = self.list_all()
        return found.get(name, CircuitBreaker())

    def list_all(self) -> Mapping[str, CircuitBreaker]:
        found = _read_all()
        self._cached = (found, self._clock.now())
        return found


def _read_all() -> Mapping[str, CircuitBreaker]:
    item = find_item(StateItem, STATE_KEY)
    try:
        return {} if item is None else read_item(item, _to_breakers)
    except UnreadableItemError:
        return {}


def _to_breakers(item: StateItem) -> Mapping[str, CircuitBreaker]:
    found = {}
    for name, stored in item.value["breakers"].items():
        try:
            found[name] = to_breaker(stored)
        except Exception as error:  # noqa: BLE001 - whatever is wrong with it, the others are read
            reason = f"{type(error).__name__} while it was read"
            set_aside(UnreadableItemError(f"circuit breaker {name}", reason))
    return found
