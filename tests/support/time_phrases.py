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
    meant: tuple[tuple[ZoneInfo, str], ...]  # the instant in UTC, ask, or none
    repeat: str | None

    def read(self, zone: ZoneInfo) -> ResolvedTime | Clarification | None:
        return parse_when(self.text, zone=zone, now=self.now)


def instant_of(when: ResolvedTime, zone: ZoneInfo, now: datetime) -> datetime:
    if when.delay is not None:
        assert when.wall_time is None
        return now + when.delay
    assert when.wall_time is not None
    return to_instant(when.wall_time, zone)


def format_result(found: ResolvedTime | Clarification | None, zone: ZoneInfo, now: datetime) -> str:
    """As the table has it."""
    if found is None:
        return NONE
    if isinstance(found, Clarification):
        return ASK
    text = f"{instant_of(found, zone, now):%Y-%m-%d %H:%M:%S}"
    return text.removesuffix(":00")


def sections() -> list[list[Phrase]]:
    """The phrases written down first, those written down afterwards, and those that trap."""
    return [_section(text) for text in _TABLE.read_text().split("\n## ")[1:]]


def _section(text: str) -> list[Phrase]:
    found = []
    for block in text.split("\n# ")[1:]:
        head, *rows = block.strip().splitlines()
        now, names = head.split(" in ")
        zones = [ZoneInfo(name) for name in names.split(", ")]
        found += [_phrase(row, datetime.fromisoformat(now), zones) for row in rows]
    return found


def _phrase(row: str, now: datetime, zones: list[ZoneInfo]) -> Phrase:
    written, *cells = (cell.strip() for cell in row.split(" | "))
    rest = re.search(r"\[(.*)\]", written)
    return Phrase(
        text=re.sub(r"[\[\]]", "", written),
        rest=rest[1] if rest else "",
        now=now,
        meant=tuple(zip(zones, cells[:3], strict=True)),
        repeat=cells[3] if len(cells) > 3 else None,
    )
