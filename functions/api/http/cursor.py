"""Cursors as callers carry them: a place in a listing, in characters that any address may hold.

A cursor is bound to its listing and filters: anywhere else it would silently lead astray.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

FOREIGN = "is not a cursor of this listing"
_NO_FILTERS = frozenset({"limit", "cursor"})
_MARK_LENGTH = 8


@dataclass(frozen=True)
class Walk:
    """Through a listing, as `asked` by its query parameters."""

    listing: str
    asked: Mapping[str, Any]

    def after(self) -> str | None:
        """The place to go on after, None at the beginning. Raises ValueError."""
        cursor = self.asked["cursor"]
        if cursor is None:
            return None
        mark, _, place = _decoded(cursor).partition(":")
        if mark != self._mark() or not place or self.cursor(place) != cursor:
            raise ValueError(FOREIGN)
        return place

    def cursor(self, place: str | None) -> str | None:
        if place is None:
            return None
        return base64.urlsafe_b64encode(f"{self._mark()}:{place}".encode()).decode()

    def _mark(self) -> str:
        filters = {name: str(said) for name, said in self.asked.items() if name not in _NO_FILTERS}
        whole = json.dumps([self.listing, filters], sort_keys=True)
        return hashlib.sha256(whole.encode()).hexdigest()[:_MARK_LENGTH]


def _decoded(cursor: str) -> str:
    try:
        return base64.urlsafe_b64decode(cursor.encode()).decode()
    except ValueError:
        return ""
