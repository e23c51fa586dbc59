"""A place in the source that a line of an error text names."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class MatchStyle(Enum):
    """How a line names a place, most trusted first.

    PYTHON is a stack trace whose innermost frame comes last, FRAME one where it comes first.
    """

    PANIC = 0
    ERROR = 1
    PYTHON = 2
    REMARK = 3
    FRAME = 4
    MENTION = 5


@dataclass(frozen=True, slots=True)
class SourceMatch:
    """`frame`: the function, package or application that a stack frame names.

    `failed_test`: the number of the failed test in pytest's report that it belongs to.
    `trace`, `cause`: the number of the stack trace, and of the cause within it (0: the outermost).
    """

    file: str
    line: int
    style: MatchStyle
    frame: str = ""
    failed_test: int = 0
    trace: int = 0
    cause: int = 0
