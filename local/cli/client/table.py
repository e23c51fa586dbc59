"""Tables that fit the screen: the last column takes what the others leave.

Where they leave too little, it is told below its row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from local.cli.client.screen import Screen, style_of
from local.cli.client.text import fitted, one_line, width_of

_GAP = "  "
_LEAST = 16  # of the last column beside the others
_INDENT = "    "


@dataclass(frozen=True, slots=True)
class Column:
    """`is_status`: in the colour of what it says. Numbers stand to the right."""

    title: str
    is_status: bool = False
    is_number: bool = False


def table(columns: Sequence[Column], rows: Iterable[Sequence[Any]], screen: Screen) -> list[str]:
    """Its lines, a heading first. Nothing is shown for None."""
    shown = [["" if cell is None else one_line(cell) for cell in row] for row in rows]
    titles = [column.title for column in columns]
    *others, last = (max(map(width_of, cells)) for cells in zip(titles, *shown, strict=True))
    left = screen.width - sum(others) - len(_GAP) * len(others)
    if left < min(last, _LEAST):
        return [*_with_the_last_below(columns, shown, others, screen)]
    widths = [*others, min(last, left)]
    return [_heading(columns, widths, screen)] + [
        _line(columns, row, widths, screen) for row in shown
    ]


def _with_the_last_below(
    columns: Sequence[Column], rows: Iterable[Sequence[str]], widths: Sequence[int], screen: Screen
) -> Iterator[str]:
    yield _heading(columns[:-1], widths, screen)
    for row in rows:
        yield _line(columns[:-1], row[:-1], widths, screen)
        if row[-1]:
            yield _INDENT + fitted(row[-1], screen.width - len(_INDENT))


def _heading(columns: Sequence[Column], widths: Sequence[int], screen: Screen) -> str:
    titles = [column.title for column in columns]
    return screen.styled(_line(columns, titles, widths, Screen(screen.width)), "bold")


def _line(
    columns: Sequence[Column], cells: Sequence[str], widths: Sequence[int], screen: Screen
) -> str:
    drawn, used = [], 0
    for column, cell, width in zip(columns, cells, widths, strict=True):
        room = min(width, screen.width - used)
        if room <= 0:
            break
        used += width + len(_GAP)
        drawn.append(_cell(column, fitted(cell, room), room, screen))
    return _GAP.join(drawn).rstrip()


def _cell(column: Column, text: str, width: int, screen: Screen) -> str:
    blanks = " " * (width - width_of(text))
    if column.is_number:
        return blanks + text
    return screen.styled(text, style_of(text) if column.is_status else None) + blanks
