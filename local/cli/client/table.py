"""Format tables to fit the screen: the last column gets the remaining width.

If too little remains, the last column is printed below its row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from local.cli.client.screen import Screen, status_style
from local.cli.client.text import cell_width, to_safe_line, truncate

_GAP = "  "
_MIN_LAST_COLUMN_WIDTH = 16  # next to the other columns
_INDENT = "    "


@dataclass(frozen=True, slots=True)
class Column:
    """`is_status`: coloured by its value. Numbers are aligned right."""

    title: str
    is_status: bool = False
    is_number: bool = False


def format_table(
    columns: Sequence[Column], rows: Iterable[Sequence[Any]], screen: Screen
) -> list[str]:
    """Return the lines, with a heading first. None becomes an empty cell."""
    cells_by_row = [["" if cell is None else to_safe_line(cell) for cell in row] for row in rows]
    titles = [column.title for column in columns]
    *others, last = (
        max(map(cell_width, cells)) for cells in zip(titles, *cells_by_row, strict=True)
    )
    left = screen.width - sum(others) - len(_GAP) * len(others)
    if left < min(last, _MIN_LAST_COLUMN_WIDTH):
        return [*_format_stacked_rows(columns, cells_by_row, others, screen)]
    widths = [*others, min(last, left)]
    return [_format_heading(columns, widths, screen)] + [
        _format_line(columns, row, widths, screen) for row in cells_by_row
    ]


def _format_stacked_rows(
    columns: Sequence[Column], rows: Iterable[Sequence[str]], widths: Sequence[int], screen: Screen
) -> Iterator[str]:
    yield _format_heading(columns[:-1], widths, screen)
    for row in rows:
        yield _format_line(columns[:-1], row[:-1], widths, screen)
        if row[-1]:
            yield _INDENT + truncate(row[-1], screen.width - len(_INDENT))


def _format_heading(columns: Sequence[Column], widths: Sequence[int], screen: Screen) -> str:
    titles = [column.title for column in columns]
    return screen.apply_style(_format_line(columns, titles, widths, Screen(screen.width)), "bold")


def _format_line(
    columns: Sequence[Column], cells: Sequence[str], widths: Sequence[int], screen: Screen
) -> str:
    drawn, used = [], 0
    for column, cell, width in zip(columns, cells, widths, strict=True):
        room = min(width, screen.width - used)
        if room <= 0:
            break
        used += width + len(_GAP)
        drawn.append(_format_cell(column, truncate(cell, room), room, screen))
    return _GAP.join(drawn).rstrip()


def _format_cell(column: Column, text: str, width: int, screen: Screen) -> str:
    blanks = " " * (width - cell_width(text))
    if column.is_number:
        return blanks + text
    return screen.apply_style(text, status_style(text) if column.is_status else None) + blanks
