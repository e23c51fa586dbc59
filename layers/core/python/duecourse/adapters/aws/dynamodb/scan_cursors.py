"""How far the scanner has dispatched, per shard: one item of the state table."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from duecourse.adapters.aws.dynamodb.models import StateItem
from duecourse.adapters.aws.dynamodb.state import read_state
from duecourse.domain.errors import UnreadableItemError
from duecourse.domain.time.instant import from_text, to_text

STATE_KEY = "scanner"


class DynamoScanCursors:
    def load(self) -> Mapping[int, datetime]:
        """Return the cursor of each shard.

        Returns none if the item is unreadable: the scanner then starts over, and the sweeper finds
        the tasks it misses.
        """
        try:
            return read_state(STATE_KEY, _to_cursors) or {}
        except UnreadableItemError:
            return {}

    def save(self, cursors: Mapping[int, datetime]) -> None:
        StateItem(STATE_KEY, value={str(n): to_text(at) for n, at in cursors.items()}).save()


def _to_cursors(item: StateItem) -> Mapping[int, datetime]:
    return {int(shard): from_text(text) for shard, text in item.value.items()}
