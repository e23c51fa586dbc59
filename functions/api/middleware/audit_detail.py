"""Summarise a change over HTTP for the audit log: counts and names, no text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Json = Mapping[str, Any]
_COUNTED_FIELDS = ("redriven", "dropped", "left")
_BUDGETS_PREFIX, _DEAD_LETTERS_PREFIX = "/budgets/", "/dead-letters/"


def describe_change(route: str, request_body: Json, response_body: Json) -> str | None:
    """Return the summary of a successful request, None if there is nothing to add."""
    if route.startswith(_BUDGETS_PREFIX):
        return f"limit={response_body.get('limit')}"
    if route.startswith(_DEAD_LETTERS_PREFIX):
        counts = {
            name: len(response_body[name]) for name in _COUNTED_FIELDS if name in response_body
        }
        return ",".join(f"{name}={count}" for name, count in counts.items())
    return f"fields={','.join(sorted(request_body))}" if request_body else None
