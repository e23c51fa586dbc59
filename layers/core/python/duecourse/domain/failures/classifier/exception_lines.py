"""Selects the lines of an error text that describe the final exception and its causes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from duecourse.domain.failures.classifier.log_lines import Line, LineKind

_MAX_MESSAGE_LINES = 12
_STACK_LOOKAHEAD = 20
_EXCEPTION_LEAD = (
    r"(?:Uncaught |Unhandled [\w ]{0,40}[:.] ?|Exception in thread \"[^\"]{0,80}\" |Caused by: "
    r"|\[cause\]: |(?:PHP )?Fatal error: {1,2}Uncaught |E {2,8}|<ref \*\d> |\[?exception\]?: "
    r"|java\.util\.concurrent\.ExecutionException: |Error: (?=[A-Z]\w{2,60}(?:Error|Exception):))?"
)
_EXCEPTION_PATTERN = re.compile(
    _EXCEPTION_LEAD + r"(?P<name>[A-Za-z_](?:[\w$.\\/]|::){2,200}?)(?: \[\w{1,80}\]| \(\w{1,80}\))?"
    r"(?::(?!:)|$| {10,80}Traceback| with message)"
)
_RUBY_EXCEPTION = re.compile(r"\S{1,300}:\d{1,7}:in [`'].{1,400}\((?P<name>[A-Z][\w:]{2,100})\)$")
_ELIXIR_EXCEPTION = re.compile(r"\*\* \((?P<name>[A-Z][\w.]{2,100})\) ")
_PANIC_PATTERN = re.compile(
    r"(?:Uncaught )?(?:Error|Exception)(?: \[\w{1,80}\])?: |panic: |fatal error: "
    r"|thread '.{0,120}' (?:\(\d{1,9}\) )?panicked at"
)
_TYPE_NAME = re.compile(
    r"[A-Z]\w{0,120}(?:Error|Exception|Expired|Timeout|Exit|Interrupt|Failure|Fault|Refused"
    r"|Reset|Denied|NotFound|Overflow|Unavailable|Iteration|Exceeded|Limit|Cancelled)"
    r"|[a-z]{2,12}error|E[A-Z]{4,12}"
)
_CLASS_NAME = re.compile(r"[A-Z][a-z]\w{2,100}")
_SEPARATORS = re.compile(r"[.:\\/$]+")
_ERROR_PREFIX = "Error: "
_WARNING_PREFIX = "Warning: "


@dataclass(frozen=True, slots=True)
class ExceptionLines:
    """Lines of prose, in three selections from narrow to wide.

    `exception`: the last exception with its message; empty if there is none.
    `error_prose`: the prose from the first stack or exception on; without an exception, all prose
    except warnings that an error follows.
    `all_prose`: every line of prose.
    """

    exception: tuple[str, ...]
    error_prose: tuple[str, ...]
    all_prose: tuple[str, ...]


def find_exception_lines(lines: Sequence[Line]) -> ExceptionLines:
    raised = [index for index, line in enumerate(lines) if _is_exception_line(lines, index, line)]
    prose = _prose_lines(lines)
    if not raised:
        return ExceptionLines((), _drop_warnings(prose), prose)
    focus = _message_lines(lines, raised[-1])
    return ExceptionLines(focus, _prose_lines(lines[_first_error_index(lines, raised) :]), prose)


def _drop_warnings(prose: tuple[str, ...]) -> tuple[str, ...]:
    """Drop each warning, and the lines that continue it, if an `Error: ` line follows later."""
    last = max(
        (index for index, text in enumerate(prose) if text.startswith(_ERROR_PREFIX)), default=-1
    )
    remaining, is_warning = [], False
    for index, text in enumerate(prose):
        is_warning = index < last and (
            text.startswith(_WARNING_PREFIX) or (is_warning and not text.startswith(_ERROR_PREFIX))
        )
        if not is_warning:
            remaining.append(text)
    return tuple(remaining)


def exception_type(line: str) -> str | None:
    """Return the exception type that the line names, without its package, else None."""
    for pattern in (_EXCEPTION_PATTERN, _RUBY_EXCEPTION, _ELIXIR_EXCEPTION):
        if found := pattern.match(line):
            *package, name = _SEPARATORS.split(found["name"])
            if _TYPE_NAME.fullmatch(name) or (package and _CLASS_NAME.fullmatch(name)):
                return name
    return None


def _is_exception_line(lines: Sequence[Line], index: int, line: Line) -> bool:
    if line.kind is not LineKind.PROSE:
        return False
    if exception_type(line.text) is not None:
        return True
    if not _PANIC_PATTERN.match(line.text):
        return False
    # Many tools start any message with `Error:`. It is an exception only if a stack follows.
    return any(near.kind is LineKind.FRAME for near in lines[index + 1 : index + _STACK_LOOKAHEAD])


def _message_lines(lines: Sequence[Line], start: int) -> tuple[str, ...]:
    """Return the exception line and the lines that continue its message."""
    message = []
    for line in lines[start : start + _MAX_MESSAGE_LINES]:
        if line.kind is LineKind.FRAME:
            break
        if line.kind is LineKind.PROSE:
            message.append(line.text)
    return tuple(message)


def _first_error_index(lines: Sequence[Line], raised: Sequence[int]) -> int:
    """Return where the first stack or exception begins. Earlier log lines are unrelated."""
    frames = (index for index, line in enumerate(lines) if line.kind is LineKind.FRAME)
    return min(raised[0], next(frames, raised[0]))


def _prose_lines(lines: Iterable[Line]) -> tuple[str, ...]:
    return tuple(line.text for line in lines if line.kind is LineKind.PROSE)
