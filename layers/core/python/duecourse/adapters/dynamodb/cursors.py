"""How far the scanner has dispatched, per shard: one small item."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from pynamodb.exceptions import DoesNotExist

from duecourse.adapters.dynamodb.items import StateItem
from duecourse.domain.instant import from_text, to_text

KEY = "scanner"


class DynamoCursors:
    def load(self) -> Mapping[int, datetime]:
        try:
            stored = StateItem.get(KEY, consistent_read=True).value
        except DoesNotExist:
            return {}
        return {int(shard): from_text(text) for shard, text in stored.items()}

    def save(self, cursors: Mapping[int, datetime]) -> None:
        StateItem(KEY, value={str(n): to_text(at) for n, at in cursors.items()}).save()
