"""Lists in what a server answered, which may be of any shape."""

from __future__ import annotations

from typing import Any


def list_or_empty(value: Any) -> list[Any]:
    """Empty where there is none."""
    return value if isinstance(value, list) else []
