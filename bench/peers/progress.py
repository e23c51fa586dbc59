"""Tell the runner how many tasks have succeeded, by the size of a file: a write costs little."""

from __future__ import annotations

import os
from functools import cache


@cache
def _descriptor() -> int:
    path = os.environ["PROGRESS_FILE"]  # noqa: TID251 - set by the runner
    return os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)


def note_success() -> None:
    os.write(_descriptor(), b".")
