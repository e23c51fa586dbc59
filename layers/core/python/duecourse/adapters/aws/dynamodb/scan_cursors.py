"""How far the scanner has dispatched, per partition: one item of the state table."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from duecourse.adapters.aws.dynamodb.models import StateItem
from duecourse.adapters.aws.dynamodb.state import read_state
from duecourse.domain.dispatch.lanes import DUE_LANES, partitions_of
from duecourse.domain.errors import UnreadableItemError
from duecourse.domain.time.instant import from_text, to_text

STATE_KEY = "scanner"
MAX_SHARD_COUNT = 64  # the highest ShardCount that the template accepts


class DynamoScanCursors:
    def load(self) -> Mapping[int, datetime | None]:
        """Return the cursor of each partition of the due index.

        If the item is unreadable, every partition that may exist is returned, without a cursor. The
        scanner then starts over, and the sweeper finds the tasks it misses.
        """
        try:
            return read_state(STATE_KEY, _to_cursors) or {}
        except UnreadableItemError:
            return dict.fromkeys(partitions_of(DUE_LANES, MAX_SHARD_COUNT))

    def save(self, cursors: Mapping[int, datetime]) -> None:
        """Replace the cursors. An unreadable item is replaced too: each scan needs the last one."""
        StateItem(STATE_KEY, value={str(n): to_text(at) for n, at in cursors.items()}).save()


def _to_cursors(item: StateItem) -> Mapping[int, datetime | None]:
    return {int(partition): from_text(text) for partition, text in item.value.items()}
