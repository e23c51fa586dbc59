"""Read lists from responses of any shape."""

from __future__ import annotations

from typing import Any


def list_or_empty(value: Any) -> list[Any]:
    """Return `value` if it is a list, else an empty list."""
    return value if isinstance(value, list) else []
