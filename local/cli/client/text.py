"""Make untrusted text safe for a terminal, and measure it in cells."""

from __future__ import annotations

import unicodedata
from typing import Any

_ELLIPSIS = "…"
# Control characters, lone surrogates, and invisible characters that can reorder a line.
_UNSAFE_CATEGORIES = frozenset({"Cc", "Cs", "Cf"})
_JOINERS = "\u200c\u200d"  # parts of letters and emoji


def to_safe_line(value: Any) -> str:
    """Return one line in which control and invisible characters are shown as escapes."""
    line = " ".join(str(value).split())
    if line.isascii() and line.isprintable():
        return line
    return "".join(_escape_unsafe(char) for char in line)


def _escape_unsafe(char: str) -> str:
    if unicodedata.category(char) not in _UNSAFE_CATEGORIES or char in _JOINERS:
        return char
    return f"\\x{ord(char):02x}" if ord(char) < 256 else f"\\u{ord(char):04x}"


def cell_width(line: str) -> int:
    """Return the width in cells: an ideograph takes two, a combining accent none."""
    if line.isascii():
        return len(line)
    from rich.cells import cell_len

    return cell_len(line)


def truncate(line: str, width: int) -> str:
    """Return `line` truncated to `width` cells, with an ellipsis."""
    if cell_width(line) <= width:
        return line
    from rich.cells import set_cell_size

    start = set_cell_size(line, max(0, width - 1)).rstrip()
    return f"{start}{_ELLIPSIS}" if width > 0 else ""


def wrap(line: str, width: int) -> list[str]:
    """Return lines of at most `width` cells. Longer words are broken."""
    lines, current = [], ""
    for word in line.split():
        longer = f"{current} {word}" if current else word
        if cell_width(longer) <= width:
            current = longer
            continue
        if current:
            lines.append(current)
        *whole, current = _break_word(word, width)
        lines += whole
    return [*lines, current] if current or not lines else lines


def _break_word(word: str, width: int) -> list[str]:
    if cell_width(word) <= width:
        return [word]
    from rich.cells import chop_cells

    return chop_cells(word, max(width, 2))
