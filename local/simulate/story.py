"""Tell what happened in a simulation, in a few lines that a stranger understands."""

from __future__ import annotations

import re
from collections.abc import Sequence

from duecourse.domain.text.redaction import truncate_middle

from local.simulate.simulation import Outcome
from local.simulate.story_entries import list_entries
from local.simulate.story_entry import StoryEntry, Weight

MAX_LINES = 34  # without the violations and the command
MAX_VIOLATIONS = 4
MAX_VIOLATION = 400
_TASK = re.compile(r"\btask [0-9a-f]+\b")


def to_story(outcome: Outcome) -> list[str]:
    """Return the lines, each with the time of day, then the violations."""
    texts = [
        f"VIOLATED  {one.invariant}: {truncate_middle(one.text, MAX_VIOLATION)}"
        for one in outcome.violations
    ]
    violations = list(dict.fromkeys(texts))[:MAX_VIOLATIONS]
    if outcome.observed is None:
        return violations
    entries = list_entries(outcome, outcome.observed)
    concerned = frozenset(name for one in outcome.violations for name in _TASK.findall(one.text))
    chosen = choose_entries(entries, concerned)
    return [
        *map(str, chosen),
        *_note_left_out(len(entries) - len(chosen)),
        *violations,
    ]


def choose_entries(entries: Sequence[StoryEntry], concerned: frozenset[str]) -> list[StoryEntry]:
    """Return the entries that matter most, in order: routine is left out, and what is too long.

    Of calls for other tasks than the `concerned` ones, only those are told that fit in.
    """
    ranked = [(_rank(one, concerned), n) for n, one in enumerate(entries)]
    chosen = [(rank, n) for rank, n in ranked if rank < Weight.ROUTINE]
    while len(chosen) > MAX_LINES:
        worst = max(rank for rank, _ in chosen)
        candidates = [one for one in chosen if one[0] == worst]
        # Those in the middle: how it began and how it ended matters more.
        chosen.remove(candidates[len(candidates) // 2])
    return [entries[n] for _, n in chosen]


def _rank(entry: StoryEntry, concerned: frozenset[str]) -> int:
    is_of_others = entry.tasks and concerned and not entry.tasks & concerned
    return max(entry.weight, Weight.DERIVED) if is_of_others else entry.weight


def _note_left_out(count: int) -> list[str]:
    return (
        [f"                    ({count} routine calls and other lines are left out)"]
        if count
        else []
    )
