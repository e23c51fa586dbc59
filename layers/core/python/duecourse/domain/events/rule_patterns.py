"""Which types of events the rules of an event bus can match, by their patterns."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

SOURCE = "duecourse"


@dataclass(frozen=True, slots=True)
class MatchableTypes:
    """The types of events that some rule can match; None: any type."""

    types: frozenset[str] | None = None

    def includes(self, event_type: str) -> bool:
        return self.types is None or event_type in self.types


EVERYTHING = MatchableTypes()


def matchable_types(patterns: Iterable[str | None]) -> MatchableTypes:
    """Return what rules with these patterns can match, or more, but never less.

    Only plain lists of strings are evaluated, in `source` and `detail-type`. Anything else counts
    as a match: prefixes, `$or`, conditions on the detail, a pattern that cannot be read.
    """
    found: set[str] = set()
    for pattern in patterns:
        types = _types_of(pattern)
        if types is None:
            return EVERYTHING
        found.update(types)
    return MatchableTypes(frozenset(found))


def _types_of(pattern: str | None) -> Collection[str] | None:
    """Return the types that the pattern can match; None if that may be any."""
    fields = _parse(pattern)
    if fields is None:
        return None
    sources = _plain_strings(fields.get("source"))
    if sources is not None and SOURCE not in sources:
        return ()
    return _plain_strings(fields.get("detail-type"))


def _parse(pattern: str | None) -> dict[str, Any] | None:
    try:
        fields = json.loads(pattern or "")
    except (ValueError, RecursionError):
        return None
    return fields if isinstance(fields, dict) else None


def _plain_strings(value: Any) -> list[str] | None:
    """Return the list of strings, or None if it is something else or missing."""
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return value
    return None
