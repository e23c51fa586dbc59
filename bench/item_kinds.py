"""Name the kind of a stored item by its table and key, for the breakdown of a bill."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

# By table: the first pattern that matches the keys, joined by a space, names the kind.
_KINDS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "TasksTable": ((r".", "task"),),
    "JournalTable": (
        (r"^audit", "audit entry"),
        (r"^breaker", "breaker event"),
        (r"^dead-letters", "dead letter"),
        (r" r#", "run record"),
        (r" e#", "history entry"),
        (r" x#", "pointer to a run record"),
    ),
    "StateTable": (
        (r"^budget", "budget"),
        (r"^breaker", "circuit breaker"),
        (r"^scanner", "scan cursor"),
        (r"^(quiet|of#)", "quiet hours"),
        (r"^profile", "profile"),
        (r"^deployment", "deployment"),
        (r"^answer", "stored reply"),
        (r"^alert", "alert cooldown"),
    ),
    "SubjectsTable": ((r".", "subject"),),
    "StatsTable": (
        (r"^patterns", "correction of a pattern"),
        (r"^tracker", "failure tracker"),
        (r"^rollup", "counters of a day"),
        (r".", "page of counters"),
    ),
    "ConnectionsTable": ((r".", "connection"),),
}
_FIRST_WORD = re.compile(r"[A-Za-z_-]*")


def item_kind(table: str, key: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the kind, such as "run record". An unknown key is named by its first word."""
    text = " ".join(str(next(iter(value.values()))) for value in key.values())
    for pattern, kind in _KINDS.get(table, ()):
        if re.search(pattern, text):
            return kind
    word = _FIRST_WORD.match(text)
    return f"{table} {word[0] if word else ''}".strip()
