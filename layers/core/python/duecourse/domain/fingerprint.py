"""A failure's fingerprint: the same for the same error, whatever numbers, names and times it tells.

It is made of what is kept with a run (the summary, type, code and status), so that one made from
the run says the same as the one that was made when it failed.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from http import HTTPStatus

from duecourse.domain.error_codes import find_codes
from duecourse.domain.failure import Failure
from duecourse.domain.log_text import read_lines
from duecourse.domain.phrase import normalised
from duecourse.domain.rule import folded
from duecourse.domain.text.redaction import CUT
from duecourse.domain.varying import without_what_varies
from duecourse.domain.verdict import find_verdict, raised_type

LENGTH = 16
MOST_LINES = 2  # the first says what it is, the second where that is but "build failed"
LONGEST_LINE = 200
FINGERPRINT = re.compile(rf"[0-9a-f]{{{LENGTH}}}")
# `main.ts(145,12)`, `Main.cs(404)`: a place is neither a status nor a code.
_PLACE = re.compile(r"(?<=\w)\(\d{1,7}(?:[,:]\d{1,7})?\)")
# Numbers that say what happened, unlike all others: of databases, and where they are called codes.
_NUMBERED = re.compile(
    r"sqlstate\W{1,3}(?P<state>[0-9a-z]{5})\b"
    r"|(?:error[ _.-]?(?:code|no|number)|[\"']code)[\"']?[\s:=#\[(]{1,3}[\"']?(?P<code>-?\d{1,6})"
    r"(?![\w]|[.,]\d)"
    r"|\berror (?P<error>\d{3,5})(?=\s?(?:$|[:;,(\[-])|\.(?:\s|$))",
    re.IGNORECASE | re.MULTILINE,
)
_TELLS = re.compile(
    r"error|fail|fatal|exception|panic|abort|denied|refused|forbidden|invalid|missing|unexpected"
    r"|cannot|can't|could not|unable|not found|no such|time[d -]{0,2}out|exceed|limit|killed|crash"
    r"|unavailable|reset|unknown"
)
_REFUSALS = frozenset(status for status in HTTPStatus if status >= HTTPStatus.BAD_REQUEST)


def fingerprint_of(failure: Failure) -> str:
    """Never raises, and takes no longer for a longer message."""
    lines = _telling_lines(failure.summary)
    said = "\n".join(_PLACE.sub("", line) for line in lines)
    codes = find_codes(said)
    longest = _longest_line(failure.summary)
    made_of = [
        folded(failure.type or ""),
        folded(failure.code or ""),
        failure.status,
        sorted(folded(name) for name in map(raised_type, lines) if name),
        sorted(code for code in codes.codes if not code.isdecimal()),
        sorted(status for status in codes.statuses if status in _REFUSALS),
        sorted(codes.exits),
        sorted({folded(found[found.lastgroup or 0]) for found in _NUMBERED.finditer(said)}),
        list(dict.fromkeys(without_what_varies(line)[:longest] for line in lines)),
    ]
    return hashlib.sha256(json.dumps(made_of).encode()).hexdigest()[:LENGTH]


def fingerprint_from(text: str) -> str:
    """Raises ValueError for what none looks like."""
    if not FINGERPRINT.fullmatch(text):
        raise ValueError(f"must be {LENGTH} hexadecimal digits, in small letters")
    return text


def _telling_lines(summary: str) -> Sequence[str]:
    """The exception with its message; without one, the first lines that speak of an error."""
    verdict = find_verdict(read_lines("\n".join(_whole_parts(summary))))
    if verdict.focus:
        return verdict.focus[:MOST_LINES]
    told = verdict.all or verdict.loose
    return ([line for line in told if _TELLS.search(normalised(line))] or told)[:MOST_LINES]


def _longest_line(summary: str) -> int | None:
    """How long the one line is that the cut goes through depends on its numbers."""
    head, cut, _ = summary.partition(CUT)
    return LONGEST_LINE if cut and "\n" not in head else None


def _whole_parts(summary: str) -> Iterator[str]:
    """Where it was cut depends on how long its numbers are: the lines at the cut do not count,
    unless there is but one."""
    head, cut, tail = summary.partition(CUT)
    if not cut:
        yield summary
        return
    yield head.rpartition("\n")[0] or head
    yield tail.partition("\n")[2]
