"""Which items the last sweep could not read: one item of the state table, removed by its TTL."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from duecourse.adapters.aws.dynamodb.models import StateItem
from duecourse.adapters.aws.dynamodb.state import read_state
from duecourse.domain.alerts.rules import UnreadableNote
from duecourse.domain.time.instant import from_text, to_text

KEY = "unreadable"
MAX_NAMED = 20
FRESH_FOR = timedelta(minutes=15)  # the sweeper runs every five minutes


class DynamoUnreadableNotes:
    def write(self, items: Sequence[str], *, at: datetime) -> None:
        value = {"items": list(items[:MAX_NAMED]), "count": len(items), "at": to_text(at)}
        StateItem(KEY, value=value, expires_at=int((at + FRESH_FOR).timestamp())).save()

    def read(self, *, now: datetime) -> UnreadableNote | None:
        return read_state(KEY, lambda item: to_note(item.value, now=now))


def to_note(stored: dict[str, Any], *, now: datetime) -> UnreadableNote | None:
    is_fresh = from_text(stored["at"]) > now - FRESH_FOR
    return UnreadableNote(stored["count"], tuple(stored["items"])) if is_fresh else None
