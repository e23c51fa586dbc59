"""What a change over HTTP was, in a few words for the audit log: counts and names, no text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Json = Mapping[str, Any]
_COUNTED = ("redriven", "dropped", "left")
_BUDGETS, _DEAD_LETTERS = "/budgets/", "/dead-letters/"


def detail_of(route: str, asked: Json, answer: Json) -> str | None:
    """`asked` and `answer` are the bodies of a request that succeeded."""
    if route.startswith(_BUDGETS):
        return f"limit={answer.get('limit')}"
    if route.startswith(_DEAD_LETTERS):
        counts = {name: len(answer[name]) for name in _COUNTED if name in answer}
        return ",".join(f"{name}={count}" for name, count in counts.items())
    return f"fields={','.join(sorted(asked))}" if asked else None
