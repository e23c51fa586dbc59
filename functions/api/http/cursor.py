"""Pagination cursors: a position in a listing, encoded for URLs.

A cursor is bound to its listing and filters, and refused with any others.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

INVALID_CURSOR = "is not a cursor of this listing and these filters: start without a cursor"
_NON_FILTER_PARAMETERS = frozenset({"limit", "cursor"})
_BINDING_LENGTH = 8


@dataclass(frozen=True)
class CursorCodec:
    """Encodes and decodes the cursors of one listing with these query parameters."""

    listing: str
    parameters: Mapping[str, Any]

    def decode(self) -> str | None:
        """Return the position to continue after; None for the first page. Raises ValueError."""
        cursor = self.parameters["cursor"]
        if cursor is None:
            return None
        binding, _, position = _decode_base64(cursor).partition(":")
        if binding != self._binding() or not position or self.encode(position) != cursor:
            raise ValueError(INVALID_CURSOR)
        return position

    def encode(self, position: str | None) -> str | None:
        if position is None:
            return None
        return base64.urlsafe_b64encode(f"{self._binding()}:{position}".encode()).decode()

    def _binding(self) -> str:
        filters = {
            name: str(value)
            for name, value in self.parameters.items()
            if name not in _NON_FILTER_PARAMETERS
        }
        bound = json.dumps([self.listing, filters], sort_keys=True)
        return hashlib.sha256(bound.encode()).hexdigest()[:_BINDING_LENGTH]


def _decode_base64(cursor: str) -> str:
    try:
        return base64.urlsafe_b64decode(cursor.encode()).decode()
    except ValueError:
        return ""
