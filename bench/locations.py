"""Score the locations that the classifier finds in the labelled corpus, by ecosystem."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from duecourse.domain.failures.classifier.log_lines import parse_lines
from duecourse.domain.failures.classifier.source_location import (
    choose_location,
    find_source_matches,
)

CORPUS = Path(__file__).parent.parent / "tests" / "corpus" / "locations.jsonl"


@dataclass(frozen=True, slots=True)
class ScoredMessage:
    """`expected` and `found` are `file:line`, or None for no location."""

    id: str
    ecosystem: str
    is_held_out: bool
    expected: str | None
    found: str | None

    @property
    def is_right(self) -> bool:
        return self.expected == self.found


def score_corpus() -> list[ScoredMessage]:
    lines = CORPUS.read_text(encoding="utf-8").splitlines()
    return [_score(json.loads(line)) for line in lines]


def hit_rate(messages: Iterable[ScoredMessage]) -> float:
    """Return the share of messages with a location for which exactly that one was found."""
    located = [message for message in messages if message.expected is not None]
    return sum(message.is_right for message in located) / len(located) if located else 1.0


def false_rate(messages: Iterable[ScoredMessage]) -> float:
    """Return the share of messages without a location for which one was found."""
    unlocated = [message for message in messages if message.expected is None]
    return sum(not message.is_right for message in unlocated) / len(unlocated) if unlocated else 0.0


def _score(row: dict[str, Any]) -> ScoredMessage:
    location = choose_location(find_source_matches(parse_lines(row["message"])))
    expected = row["location"]
    return ScoredMessage(
        row["id"],
        row["ecosystem"],
        row["held_out"],
        f"{expected['file']}:{expected['line']}" if expected else None,
        f"{location.file}:{location.line}" if location else None,
    )


def _print_rates(label: str, messages: Sequence[ScoredMessage]) -> None:
    located = sum(message.expected is not None for message in messages)
    print(
        f"{label:16} {hit_rate(messages):6.3f} of {located:3} found, "
        f"false in {false_rate(messages):.3f} of {len(messages) - located:3}"
    )


def main() -> None:
    messages = score_corpus()
    for ecosystem in sorted({message.ecosystem for message in messages}):
        _print_rates(ecosystem, [row for row in messages if row.ecosystem == ecosystem])
    _print_rates("held out", [message for message in messages if message.is_held_out])
    _print_rates("all", messages)
    for message in messages:
        if not message.is_right:
            print(f"{message.id}: expected {message.expected}, found {message.found}")


if __name__ == "__main__":
    main()
