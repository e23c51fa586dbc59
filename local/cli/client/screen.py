"""The width and colours of standard output."""

from __future__ import annotations

import os
import re
import shutil
import sys
from dataclasses import dataclass

UNLIMITED = 100_000  # output for programs is not truncated
_MIN_WIDTH = 20
_STYLE_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "blue": "34"}
_STYLE_BY_STATUS = {
    "in_progress": "blue",
    "pending_verification": "yellow",
    "blocked": "yellow",
    "delivered": "green",
    "completed": "green",
    "committed": "green",
    "failed": "red",
    "crashed": "red",
    "cancelled": "dim",
    "ok": "green",
    "warning": "yellow",
    "skipped": "dim",
}


@dataclass(frozen=True, slots=True)
class Screen:
    width: int = UNLIMITED
    has_colours: bool = False

    @classmethod
    def detect(cls) -> Screen:
        """Return the terminal's width (or COLUMNS) and colours; a file has neither."""
        if not sys.stdout.isatty():
            return cls()
        width = shutil.get_terminal_size().columns
        is_plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
        return cls(max(width, _MIN_WIDTH), not is_plain)

    def apply_style(self, text: str, style: str | None) -> str:
        if style is None or not self.has_colours:
            return text
        return f"\033[{_STYLE_CODES[style]}m{text}\033[0m"


def status_style(status: object) -> str | None:
    """Return the style of a status; also of a run (failed:permanent) or a paused task."""
    return _STYLE_BY_STATUS.get(re.split(r"[ :]", str(status))[0])
