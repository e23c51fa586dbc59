"""Standard output as a person sees it: how wide it is, and whether it has colours."""

from __future__ import annotations

import os
import re
import shutil
import sys
from dataclasses import dataclass

UNLIMITED = 100_000  # what is read by a program is not cut
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
}


@dataclass(frozen=True, slots=True)
class Screen:
    width: int = UNLIMITED
    has_colours: bool = False

    @classmethod
    def detect(cls) -> Screen:
        """A terminal is as wide as it is, or as COLUMNS says; a file has no width."""
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
    """Also of a run (failed:permanent), and of a task that is paused."""
    return _STYLE_BY_STATUS.get(re.split(r"[ :]", str(status))[0])
