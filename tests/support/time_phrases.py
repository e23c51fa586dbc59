"""The table of times in time_phrases.txt, read row by row."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from duecourse.domain.naturaltime import Clarification, ResolvedTime, parse_when
from duecourse.domain.time.dst import to_instant

ASK, NONE = "ask", "none"
_TABLE = Path(__file__).with_name("time_phrases.txt")


@dataclass(frozen=True)
class Phrase:
    text: str
    rest: str
    now: datetime
    expected: tuple[tuple[ZoneInfo, str], ...]  # the instant in UTC, ask, or none
    repeat: str | None

    def parse(self, zone: ZoneInfo) -> ResolvedTime | Clarification | None:
        return parse_when(self.text, zone=zone, now=self.now)


def instant_of(when: ResolvedTime, zone: ZoneInfo, now: datetime) -> datetime:
    if when.delay is not None:
        assert when.wall_time is None
        return now + when.delay
    assert when.wall_time is not None
    return to_instant(when.wall_time, zone)


def format_result(
    result: ResolvedTime | Clarification | None, zone: ZoneInfo, now: datetime
) -> str:
    """Return the result in the notation of the table."""
    if result is None:
        return NONE
    if isinstance(result, Clarification):
        return ASK
    text = f"{instant_of(result, zone, now):%Y-%m-%d %H:%M:%S}"
    return text.removesuffix(":00")


def sections() -> list[list[Phrase]]:
    """Return the phrases written before the grammar, those after it, and tricky ones."""
    return [_section(text) for text in _TABLE.read_text().split("\n## ")[1:]]


def _section(text: str) -> list[Phrase]:
    phrases = []
    for block in text.split("\n# ")[1:]:
        head, *rows = block.strip().splitlines()
        now, names = head.split(" in ")
        zones = [ZoneInfo(name) for name in names.split(", ")]
        phrases += [_phrase(row, datetime.fromisoformat(now), zones) for row in rows]
    return phrases


def _phrase(row: str, now: datetime, zones: list[ZoneInfo]) -> Phrase:
    written, *cells = (cell.strip() for cell in row.split(" | "))
    rest = re.search(r"\[(.*)\]", written)
    return Phrase(
        text=re.sub(r"[\[\]]", "", written),
        rest=rest[1] if rest else "",
        now=now,
        expected=tuple(zip(zones, cells[:3], strict=True)),
        repeat=cells[3] if len(cells) > 3 else None,
    )
