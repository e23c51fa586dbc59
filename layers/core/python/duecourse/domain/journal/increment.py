"""Increments of daily counters. They can be merged in any order and grouping."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

T = TypeVar("T", int, str)
_PART_COUNT = 5


@dataclass(frozen=True, slots=True)
class Increment:
    """A change to one counter of one UTC day.

    `sums` are added; `maximums` keep the largest value, `earliest` the smallest text, `latest` the
    largest text, and `members` all texts.
    """

    day: str
    counter: str
    sums: Mapping[str, int] = field(default_factory=dict)
    maximums: Mapping[str, int] = field(default_factory=dict)
    earliest: Mapping[str, str] = field(default_factory=dict)
    latest: Mapping[str, str] = field(default_factory=dict)
    members: frozenset[str] = frozenset()

    def negate(self) -> Increment:
        """Return the increment that takes the sums back. The other values cannot be taken back."""
        return Increment(self.day, self.counter, {name: -n for name, n in self.sums.items()})


def merge_increments(increments: Iterable[Increment]) -> list[Increment]:
    """Return one increment per counter and day."""
    found: dict[tuple[str, str], Increment] = {}
    for one in increments:
        key = (one.day, one.counter)
        found[key] = _add(found[key], one) if key in found else one
    return [_without_zeros(one) for one in found.values()]


def increments_to_stored(increments: Iterable[Increment]) -> dict[str, dict[str, list[Any]]]:
    """Return the merged increments by day and counter, without empty parts at the end."""
    stored: dict[str, dict[str, list[Any]]] = {}
    for one in merge_increments(increments):
        parts: list[Any] = [dict(one.sums), dict(one.maximums), dict(one.earliest)]
        parts += [dict(one.latest), sorted(one.members)]
        while parts and not parts[-1]:
            parts.pop()
        stored.setdefault(one.day, {})[one.counter] = parts
    return stored


def increments_from_stored(stored: Mapping[str, Mapping[str, list[Any]]]) -> list[Increment]:
    return [
        _from_parts(day, counter, parts)
        for day, counters in stored.items()
        for counter, parts in counters.items()
    ]


def _from_parts(day: str, counter: str, parts: list[Any]) -> Increment:
    missing: list[Any] = [{}] * (_PART_COUNT - len(parts))
    sums, maximums, earliest, latest, members = parts + missing
    return Increment(day, counter, sums, maximums, earliest, latest, frozenset(members))


def _add(one: Increment, other: Increment) -> Increment:
    return Increment(
        one.day,
        one.counter,
        sums={**one.sums, **{name: n + one.sums.get(name, 0) for name, n in other.sums.items()}},
        maximums=_merge_values(max, one.maximums, other.maximums),
        earliest=_merge_values(min, one.earliest, other.earliest),
        latest=_merge_values(max, one.latest, other.latest),
        members=one.members | other.members,
    )


def _merge_values(
    choose: Callable[[T, T], T], one: Mapping[str, T], other: Mapping[str, T]
) -> Mapping[str, T]:
    return {**one, **{name: choose(one.get(name, held), held) for name, held in other.items()}}


def _without_zeros(one: Increment) -> Increment:
    if all(one.sums.values()):
        return one
    return replace(one, sums={name: number for name, number in one.sums.items() if number})
