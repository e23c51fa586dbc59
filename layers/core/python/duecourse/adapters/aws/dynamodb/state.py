"""Consistent reads of single items of the state table."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from duecourse.adapters.aws.dynamodb.models import StateItem
from duecourse.adapters.aws.dynamodb.raw_items import find_item
from duecourse.adapters.aws.dynamodb.stored_item import read_item

T = TypeVar("T")


def read_state(key: str, read: Callable[[StateItem], T]) -> T | None:
    """Return `read(item)` for the item with that key, or None if there is none.

    Raises UnreadableItemError if `read` fails.
    """
    item = find_item(StateItem, key, is_consistent=True)
    return None if item is None else read_item(item, read)
