"""Fingerprints of failures. The same error has the same fingerprint, despite varying numbers,
names and times.

Only fields that a run stores are used (summary, type, code and status), so that a fingerprint can
be computed again from the stored run.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from functools import cache
from http import HTTPStatus
from itertools import islice

from duecourse.domain.failures.classifier.error_codes import find_codes
from duecourse.domain.failures.classifier.exception_lines import (
    exception_type,
    find_exception_lines,
)
from duecourse.domain.failures.classifier.log_lines import parse_lines
from duecourse.domain.failures.classifier.phrase import normalize_text
from duecourse.domain.failures.classifier.rule import normalize_code
from duecourse.domain.failures.failure import Failure
from duecourse.domain.text.redaction import TRUNCATION_MARK

FINGERPRINT_LENGTH = 16
MAX_LINES = 2  # the first names the error; the second helps if it is only "build failed"
MAX_LINE_LENGTH = 200
FINGERPRINT_PATTERN = re.compile(rf"[0-9a-f]{{{FINGERPRINT_LENGTH}}}")
# `main.ts(145,12)`, `Main.cs(404)`: a position is neither a status nor a code.
_SOURCE_POSITION = re.compile(r"(?<=\w)\(\d{1,7}(?:[,:]\d{1,7})?\)")
# Numbers that identify the error and so are not masked: database states and labelled codes.
_NUMERIC_CODE = re.compile(
    r"sqlstate\W{1,3}(?P<state>[0-9a-z]{5})\b"
    r"|(?:error[ _.-]?(?:code|no|number)|[\"']code)[\"']?[\s:=#\[(]{1,3}[\"']?(?P<code>-?\d{1,6})"
    r"(?![\w]|[.,]\d)"
    r"|\berror (?P<error>\d{3,5})(?=\s?(?:$|[:;,(\[-])|\.(?:\s|$))",
    re.IGNORECASE | re.MULTILINE,
)
_ERROR_WORDS = re.compile(
    r"error|fail|fatal|exception|panic|abort|denied|refused|forbidden|invalid|missing|unexpected"
    r"|cannot|can't|could not|unable|not found|no such|time[d -]{0,2}out|exceed|limit|killed|crash"
    r"|unavailable|reset|unknown"
)
_ERROR_STATUSES = frozenset(status for status in HTTPStatus if status >= HTTPStatus.BAD_REQUEST)


def fingerprint_of(failure: Failure) -> str:
    """Return the fingerprint. Never raises; the time does not grow with the message's length."""
    lines = _error_lines(failure.summary)
    text = "\n".join(_SOURCE_POSITION.sub("", line) for line in lines)
    codes = find_codes(text)
    max_length = _line_limit(failure.summary)
    parts = [
        normalize_code(failure.type or ""),
        normalize_code(failure.code or ""),
        failure.status,
        sorted(normalize_code(name) for name in map(exception_type, lines) if name),
        sorted(code for code in codes.codes if not code.isdecimal()),
        sorted(status for status in codes.statuses if status in _ERROR_STATUSES),
        sorted(codes.exit_codes),
        sorted(
            {normalize_code(found[found.lastgroup or 0]) for found in _NUMERIC_CODE.finditer(text)}
        ),
        list(dict.fromkeys(mask_variables(line)[:max_length] for line in lines)),
    ]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:FINGERPRINT_LENGTH]


def parse_fingerprint(text: str) -> str:
    """Return `text` if it has the form of a fingerprint. Raises ValueError otherwise."""
    if not FINGERPRINT_PATTERN.fullmatch(text):
        raise ValueError(f"must be {FINGERPRINT_LENGTH} hexadecimal digits, in lower case")
    return text


def _error_lines(summary: str) -> Sequence[str]:
    """Return the exception with its message, or the first lines that contain an error word.

    Without either, return the first lines of prose.
    """
    verdict = find_exception_lines(parse_lines("\n".join(_uncut_lines(summary))))
    if verdict.exception:
        return verdict.exception[:MAX_LINES]
    prose = verdict.error_prose or verdict.all_prose
    error_lines = [line for line in prose if _ERROR_WORDS.search(normalize_text(line))]
    return (error_lines or prose)[:MAX_LINES]


def _line_limit(summary: str) -> int | None:
    """Return the limit for a single line that was truncated, else None.

    How much of that line is left depends on the length of its numbers.
    """
    head, cut, _ = summary.partition(TRUNCATION_MARK)
    return MAX_LINE_LENGTH if cut and "\n" not in head else None


def _uncut_lines(summary: str) -> Iterator[str]:
    """Yield the text without the lines at the truncation mark, unless there is only one line.

    Where the mark falls depends on the length of the numbers in the text.
    """
    head, cut, tail = summary.partition(TRUNCATION_MARK)
    if not cut:
        yield summary
        return
    yield head.rpartition("\n")[0] or head
    yield tail.partition("\n")[2]


# Linear time: each repeat is bounded, or cannot start inside its own match.
_UNITS = (
    r"(?:ns|us|µs|ms|millis|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?"
    r"|b|bytes?|[kmgt]i?b|%)"
)
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}"
_WEEKDAY = r"(?:mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6}"
_MESSAGE_KEY = (
    r"(?:message|msg|error|errors|err|detail|details|title|description|reason|cause|fault|failure"
    r"|exception|problem|stderr|type|code|status|name|kind"
    r"|err(?:or)?_?(?:code|type|msg|message|description|reason))"
)
_EXCEPTION_SUFFIX = (
    r"(?:error|exception|exit|expired|failure|fault|interrupt|denied|refused|timeout|exceeded)"
)
_QUOTED_TEXT = r"""\"[^"]{0,400}\"|(?<!\w)'[^']{0,400}'(?!\w)"""
_FIELD_START = r"([{,\[]\s{0,4})"
_ID_OWNERS = r"(?:request|trace|span|session|correlation|execution|invocation|job|run|task|process)"
_MASKS = [
    (r"\[redacted\]", "redacted"),  # without the bracket, which would end a URL
    # JSON: keep messages and field names, without their quotes.
    (rf"""{_FIELD_START}(["']){_MESSAGE_KEY}\2\s{{0,4}}:\s{{0,4}}"([^"]{{0,400}})\"""", r"\1\3"),
    (rf"""{_FIELD_START}(["']){_MESSAGE_KEY}\2\s{{0,4}}:\s{{0,4}}'([^']{{0,400}})'""", r"\1\3"),
    (rf"""{_FIELD_START}(["'])([\w.-]{{1,40}})\2(?=\s{{0,4}}:)""", r"\1\3"),
    (r"\b[a-z][a-z0-9+.-]{1,20}://[^\s\"'<>)\]}|]+", "<url>"),
    # Keep the argument of an exception, without its quotes, unless it is a single word.
    (rf"""({_EXCEPTION_SUFFIX}\()"([^"\s]{{0,200}}\s[^"]{{0,400}})"(?=,?\))""", r"\1\2"),
    (rf"""({_EXCEPTION_SUFFIX}\()'([^'\s]{{0,200}}\s[^']{{0,400}})'(?=,?\))""", r"\1\2"),
    (_QUOTED_TEXT, "<text>"),
    (r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}", "<address>"),
    (
        r"(?<![\w.-])(?:[\w-]{1,63}\.){1,8}(?:com|net|org|io|dev|ai|app|co|eu|cloud|internal"
        r"|local|test|example)(?::\d{1,5})?(?![\w.-])",
        "<address>",
    ),
    (r"(?<![\w:])(?:[0-9a-f]{0,4}:){3,7}[0-9a-f]{0,4}(?![\w:])", "<address>"),
    (r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", "<id>"),
    # Keep only the last component of a path.
    (r"\b[a-z]:(?=[/\\])", ""),
    (r"(?<![^\s:;,()\[\]{}<>=|])[^\s:;,()\[\]{}<>=|]*[/\\](?=[^\s:;,()\[\]{}<>=|/\\])", ""),
    (rf"\b({_ID_OWNERS}[ _-]?id)\W{{1,4}}[\w.:/+=-]{{1,200}}", r"\1 <id>"),
    (rf"(?:\b{_WEEKDAY},? )?(?:\b\d{{1,2}}[ -])?\b{_MONTH}[ -]\d{{1,4}}(?:,? \d{{4}})?\b", "#"),
    (r"\b0x[0-9a-f]{1,64}\b", "<id>"),
    (r"\b(?=[a-f]{0,64}\d)(?=\d{0,64}[a-f])[0-9a-f]{8,}\b", "<id>"),
    (rf"(?<![\w.])(?:\d[\d.,]{{0,30}}\s?{_UNITS}\s?)+(?!\w)", "# "),
    (r"\d+(?:[.,_:/-]\d+)*", "#"),
    # A number within letters or before letters is an id, not a word.
    (r"(?<![\w#-])(?=[\w#-]{0,200}?(?:[a-z_]#[a-z_-]*[a-z#]|#[a-z]))[\w#-]+", "<id>"),
    (r"#(?:[\s.,:;/_+x-]{1,3}#)+z?", "#"),
    (r"(?<!\w)[+-](?=#)", ""),
    (r"(?<=# )([a-z]{3,40})s\b", r"\1"),  # 1 test, 2 tests
]


# Words that only say that there is an error, and placeholders.
_UNINFORMATIVE = re.compile(
    r"<\w{2,7}>|\b(?:an?|the|err|errors?|fail(?:ed|ure)|fatal|exception|redacted)\b|[\W\d_]"
)
_LINE_END = re.compile(r"[\s.,!)]{0,4}$")


def mask_variables(line: str) -> str:
    text = " ".join(normalize_text(line).split())
    stripped = _apply_masks(_unquote_final_sentence(text))
    # If nothing informative is left, the quoted text is the error.
    return stripped if _UNINFORMATIVE.sub("", stripped) else _apply_masks(_unquote(text))


def _unquote_final_sentence(text: str) -> str:
    """Remove the quotes from a quoted sentence at the end of the line, if it is the only one.

    It is part of the message: `Tool said 'command timed out'`. A quoted name stays quoted.
    """
    quoted = _compile(_QUOTED_TEXT).finditer(text)
    sentences = list(islice((found for found in quoted if " " in found.group()), 2))
    if len(sentences) != 1 or not _LINE_END.match(text, sentences[0].end()):
        return text
    start, end = sentences[0].span()
    return text[:start] + text[start + 1 : end - 1] + text[end:]


def _unquote(text: str) -> str:
    return _compile(_QUOTED_TEXT).sub(lambda match: match.group()[1:-1], text)


def _apply_masks(text: str) -> str:
    for pattern, instead in _MASKS:
        text = _compile(pattern).sub(instead, text)
    return " ".join(text.split())


@cache
def _compile(pattern: str) -> re.Pattern[str]:
    """Compile on first use, because most functions that load this never see a failure."""
    return re.compile(pattern)
