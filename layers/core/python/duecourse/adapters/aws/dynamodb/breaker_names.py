"""The list of providers that have a circuit breaker, MAX_BREAKERS at most, in one state item."""

from __future__ import annotations

from collections.abc import Iterable

from pynamodb.exceptions import DoesNotExist
from pynamodb.expressions.condition import size

from duecourse.adapters.aws.dynamodb.breaker_models import BreakerNamesItem
from duecourse.adapters.aws.dynamodb.conditions import update_if
from duecourse.domain.limits.circuit_breakers import MAX_BREAKERS

STATE_KEY = "breaker-names"


def list_names() -> list[str]:
    try:
        return sorted(BreakerNamesItem.get(STATE_KEY).names or ())
    except DoesNotExist:
        return []


def add_name(name: str) -> None:
    """Add the name, unless the list is full: the breaker then works without being listed."""
    names = BreakerNamesItem.names
    has_room = names.does_not_exist() | names.contains(name) | (size(names) < MAX_BREAKERS)
    update_if(BreakerNamesItem(STATE_KEY), [names.add({name})], condition=has_room)


def remove_names(names: Iterable[str]) -> None:
    BreakerNamesItem(STATE_KEY).update([BreakerNamesItem.names.delete(set(names))])
