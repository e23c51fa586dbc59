"""Cursors as callers carry them: a place in a listing, in characters that any address may hold."""

from __future__ import annotations

import base64


def to_cursor(place: str) -> str:
    return base64.urlsafe_b64encode(place.encode()).decode()


def from_cursor(cursor: str) -> str:
    """Raises ValueError for what `to_cursor` never wrote."""
    try:
        place = base64.urlsafe_b64decode(cursor.encode()).decode()
    except ValueError:
        place = ""
    if not place or to_cursor(place) != cursor:
        raise ValueError("is not a cursor of this listing")
    return place
