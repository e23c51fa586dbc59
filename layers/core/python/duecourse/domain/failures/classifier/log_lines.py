"""Splits an error text into lines, without colours, timestamps and log prefixes.

Each line is classified as prose, stack frame, source code or blank. Only prose describes the error.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

MAX_LINES = 1_500
_MAX_PREFIXES = 5
_ANSI = re.compile(r"\x1b\[[0-9;?]{0,30}[@-~]|\x1b\][^\x07\x1b]{0,200}\x07|\x1b[@-_]")
_BROKEN_ANSI = re.compile(r"[\u2190\ufffd]?\[\d{1,2}(?:;\d{1,3}){0,4}m(?!\])")
_ESCAPED_NEWLINE = re.compile(r"""(?<=[.:"'})\]>!?, ])\\r?\\?n|\\r?\\n|\\n(?=[\s\\"'A-Z{\[<(-])""")
_ESCAPED_QUOTE = re.compile(r'\\{1,4}"')
_ESCAPED_TABS = re.compile(r"\n(?:\\{1,2}t){1,8}")
_TIMESTAMP = r"\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z| ?[+-]\d\d:?\d\d| UTC)?"
_DATE = (
    r"(?:\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}|\d{1,2}/[A-Z][a-z]{2}/\d{4}|[A-Z][a-z]{2} \d{1,2}, \d{4}"
    r"|(?:[A-Z][a-z]{2} ){1,2}[ \d]?\d(?: \d{4})?)"
)
_TIME = r"\d{1,2}:\d\d:\d\d(?:[.,]\d{1,9})?(?: [AP]M| ?[+-]\d\d:?\d\d| UTC|Z)?"
_LEVEL = r"(?:ERROR|WARN(?:ING)?|INFO|DEBUG|FATAL|CRITICAL|TRACE|SEVERE|NOTICE|ERR)"
_PREFIX = re.compile(
    "|".join(
        (
            rf"{_TIMESTAMP}[:,|]?\s",
            rf"\[{_TIMESTAMP}[^\]]{{0,40}}\][:\s]",
            r"[\d.]{1,12}Z\s",
            r"\[?\d\d:\d\d:\d\d(?:[.,]\d{1,6})?\]?:?\s",
            r"[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d [\w.-]{1,60} [\w./-]{1,40}(?:\[\d{1,8}\])?:\s",
            rf"\[?{_DATE}[, T:]{{1,2}}{_TIME}\]?(?: \[\d{{1,8}}\])?:?\s(?:- )?",
            r"[EWIF]\d{4} \d\d:\d\d:\d\d\.\d{1,6}\s{1,7}\d{1,9} [\w./-]{1,80}:\d{1,6}\]\s",
            r"\[(?!\w{1,40}_exception\])[\w:./@-]{1,40}\]\s",
            r"npm (?:ERR!|error|WARN|warn|verb|info)(?:\s|$)",
            r"\d{1,5} (?:error|verbose|silly|info|warn|http|timing)\s",
            r"##\[\w{1,12}\]|##vso\[[^\]]{1,200}\]",
            r"\d{1,6}(?=\[(?:info|error|warn)\]\s)",
            r"(?:stdout|stderr) [FP] ",
            r"\d{1,3}>(?=\S)",
            r"::(?:error|warning|notice)[^:]{0,200}::",
            r"#\d{1,4} \d{1,6}\.\d{1,4}\s",
            r"#\d{1,4} (?=ERROR|CANCELED)",
            rf"{_LEVEL}(?::[\w.]{{1,60}}:|:|\s-|\s\||\s{{2,9}})\s?",
            rf"\[{_LEVEL}\]:?\s?",
            rf"{_LEVEL} (?![\w.$]{{0,80}}(?:Error|Exception):)[\w.$]{{1,80}}: ",
            r"""time="[^"]{1,40}" level=\w{1,9} msg="?""",
            r"[A-Za-z][\w.-]{0,60} {1,30}\| ",
            r"[A-Za-z][\w.-]{0,60} {2,30}> ",
            r"[│┃║┆╎▌▏╭╰├└╷╵]\s?",
            r"[●•✖✘×❌⨯»✗✕❯⎯▲■]{1,3}\s{1,4}",
            r"(?:stderr|stdout|STDERR|STDOUT)(?: ?[:|])\s",
        )
    )
)
_BOX_BORDER = re.compile(r"[\s│┃║╮╯]+$")
_SOURCE_LINE = re.compile(
    r"\s{0,12}(?:>|-{1,5}>)?\s{0,12}\d{1,6} ?[|│┃](?:\s|$)"  # 12 | let x = 1;
    r"|\s{0,12}[|│]\s{0,200}[\^~+-]{1,200}"  # the marker below it
    r"|-{2,5}> \d{1,6} "  # IPython's arrow
    r"|\+{1,3} \S|\$ \S"  # the shell's echo of a command
)
_FRAME = re.compile(
    r"""File "[^"]{1,400}", line \d"""
    r"|at (?:async |new )?[^\s(]{1,300}(?: \[as [^\]]{1,80}\])? ?\("
    r"|at (?:async )?\S{1,400}:\d{1,7}(?::\d{1,7})?$"
    r"|at .{1,300} in .{1,300}:line \d"
    r"|\.\.\. \d{1,5} (?:more|common frames)"
    r"|\S{1,400}\.(?:go|s):\d{1,7} \+0x"
    r"|goroutine \d|created by [\w.]|\[signal "
    r"|[\w./*()-]{1,300}\((?:0x[0-9a-f]|\.\.\.|\{|\)$)"
    r"|\d{1,4}: {1,6}(?:0x[0-9a-f]|[\w<][\w<>: ]{0,80}::)"
    r"|from \S{1,400}:\d{1,7}:in "
    r"|\S{1,400}\.rb:\d{1,7}:in [`'][^`']{1,200}'$"
    r"|#\d{1,4} {1,6}(?:/|\{main|0x|\[internal|[A-Z]:\\|\S{1,300}\(\d{1,7}\):)"
    r"|\([\w ]{1,60} [\d.]{1,20}\) \S{1,300}:\d{1,7}: "
    r"|File [~/A-Z]\S{1,400}:\d{1,7}, in |<ipython-input|\S{1,400}\.py in \w"
)
_PYTHON_FRAME = re.compile(r"""File "[^"]{1,400}", line \d""")


class LineKind(Enum):
    PROSE = "prose"
    FRAME = "frame"
    CODE = "code"
    BLANK = "blank"


@dataclass(frozen=True, slots=True)
class Line:
    """`prefix`: what was removed in front of the text, such as a timestamp and a level."""

    text: str
    kind: LineKind
    prefix: str = ""


def parse_lines(text: str) -> list[Line]:
    lines = [_split_prefixes(line) for line in _limit_lines(_to_plain_lines(text))]
    kinds = _classify_lines([text for _, text in lines])
    return [
        Line(text.strip(), kind, prefix) for (prefix, text), kind in zip(lines, kinds, strict=True)
    ]


def _to_plain_lines(text: str) -> list[str]:
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    if "m" in text and "[" in text:
        text = _BROKEN_ANSI.sub("", text)
    if "\\n" in text:
        text = _ESCAPED_NEWLINE.sub("\n", text)
    if '\\"' in text:
        text = _ESCAPED_QUOTE.sub('"', text)
    if "\n\\t" in text:
        text = _ESCAPED_TABS.sub("\n\t", text)
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _limit_lines(lines: list[str]) -> list[str]:
    if len(lines) <= MAX_LINES:
        return lines
    return lines[: MAX_LINES // 2] + lines[-MAX_LINES // 2 :]


def _split_prefixes(line: str) -> tuple[str, str]:
    rest = _BOX_BORDER.sub("", line) if line[-1:] in "│┃║╮╯" else line
    prefix = ""
    for _ in range(_MAX_PREFIXES):
        indent = len(rest) - len(rest.lstrip())
        found = _PREFIX.match(rest, indent)
        if found is None:
            break
        prefix += found[0]
        rest = rest[found.end() :]
    return prefix, rest.rstrip()


def _classify_lines(lines: Sequence[str]) -> list[LineKind]:
    is_pytest = any(line.startswith("E   ") for line in lines)
    is_notebook = any(line.startswith("--->") or line.startswith("---->") for line in lines)
    kinds: list[LineKind] = []
    for index, line in enumerate(lines):
        before = lines[index - 1] if index else ""
        after = lines[index + 1] if index + 1 < len(lines) else ""
        is_code = (
            _is_code(line, before, after)
            or (is_pytest and _is_pytest_code(line))
            or (is_notebook and _is_notebook_code(line))
        )
        kinds.append(_classify_line(line.strip(), is_code=is_code))
    return kinds


def _classify_line(stripped: str, *, is_code: bool) -> LineKind:
    if not stripped:
        return LineKind.BLANK
    if _FRAME.match(stripped):
        return LineKind.FRAME
    return LineKind.CODE if is_code else LineKind.PROSE


def _is_code(line: str, before: str, after: str) -> bool:
    if _SOURCE_LINE.match(line) or _is_pointer(line):
        return True
    if line[:1].isspace() and _PYTHON_FRAME.match(before.strip()):
        return _indent(line) > _indent(before)
    return _is_pointer(after) and "error" not in line.lower()


def _is_pointer(line: str) -> bool:
    """Return whether the line only points at the line above: `    ^~~~~`."""
    return ("^" in line or "~" in line) and not line.strip(" \t^~|-+")


def _is_pytest_code(line: str) -> bool:
    return line.startswith((">   ", "    "))


def _is_notebook_code(line: str) -> bool:
    return re.match(r"\s{1,8}\d{1,6}(?:\s|$)", line) is not None


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
