"""Codes, statuses and exit codes as they stand in the text of an error."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from duecourse.domain.rule import folded

_QUOTE = r"""\\{0,4}["']?"""
# JSON, Python, JavaScript, Rust or logfmt; whole, cut or escaped
_FIELD = re.compile(
    rf"""(?<![\w.])(?:error\.?)?(?P<key>code|type|status|reason|__type|kind|errno|finish_?reason"""
    rf"""|stop_?reason|block_?reason|status_?code|http_?status|error_?code|error_?type|exit_?code)"""
    rf"""{_QUOTE}\s{{0,3}}[:=]\s{{0,6}}(?:String\(|Some\(|Number\()?{_QUOTE}"""
    rf"""(?P<value>-?[A-Za-z0-9_][\w.:#-]{{0,80}})""",
    re.IGNORECASE,
)
_WORDS = (
    re.compile(r"(?<![\w/\\.-])(E[A-Z0-9_]{3,20}|ERR_[A-Z_]{3,60})(?![\w/\\-])"),
    re.compile(r"(?:^|\s)(?:error )?code (E[A-Z0-9]{3,20})\b"),
    re.compile(r"code = ([A-Z]\w{2,30}) desc = "),
    re.compile(r"StatusCode\.([A-Z_]{4,30})"),
    re.compile(r"An error occurred \((\w{3,80})\) when calling"),
    re.compile(r"\berror(?: code)?[:\s]{1,2}\[?([A-Z]{1,4}-?\d{3,5})\]?[:\s]"),
    re.compile(r"\b(?:error|warning)\[([A-Z]\d{4})\]"),
    re.compile(r"\bSQLSTATE[\[: =]{1,3}([0-9A-Z]{5})"),
    re.compile(r"\b(ORA-\d{5})\b"),
    re.compile(r"\((\d{5}|[A-Z]\w{2,40}Exception)\)"),
)
_REASONS = (
    r"bad request|unauthori[sz]ed|payment required|forbidden|not found|request timeout|conflict"
    r"|payload too large|request entity too large|unprocessable|too many requests"
    r"|internal server error|bad gateway|service unavailable|service temporarily unavailable"
    r"|gateway time-?out|gateway timed out|overloaded"
)
_NUMBER = re.compile(r"(?<![\w.:/-])[1-5]\d\d(?![\w]|[.,]\d)")
_STATUS_BEFORE = re.compile(
    r"(?:https?/\d(?:\.\d)?|https?(?: ?(?:error|status|response|code)){0,2}|status(?: ?code)?"
    r"|(?:error|response|reply) code|api ?error|returned(?: error)?|with(?: a)?(?: status)?"
    r"|answered|[a-z]{0,30}error|exception|(?:response|unexpected|received|got) status)"
    r"""["']?\s{0,2}(?:code)?[:=\[( ]{1,3}\s?["']?$""",
    re.IGNORECASE,
)
_REASON_AFTER = re.compile(rf"[:,)\]]?(?: -)? (?:{_REASONS})", re.IGNORECASE)
_REASON_BEFORE = re.compile(rf"(?:{_REASONS}) ?[:(\[]? ?$", re.IGNORECASE)
_MOST_NUMBERS = 200
_EXIT = re.compile(
    r"(?:exit(?:ed)?(?: with)?(?: exit)?(?: non-zero)?(?: (?:code|status))?|exit_?code|return ?code"
    r"|exited \(|finished with exit code|exit status|returned a non-zero code|code=exited, status)"
    r"""["']?[:=( ]{1,3}(?P<plain>-?\d{1,3})(?![\d.])"""
    r"|make(?:\[\d{1,2}\])?: \*\*\* .{0,200}(?:Error|错误|エラー|Fehler|Erreur) (?P<make>\d{1,3})$"
    r"|died with <Signals\.\w{2,12}: (?P<signal>\d{1,2})>",
    re.IGNORECASE | re.MULTILINE,
)
_EXIT_HINT = re.compile(r"[Ee]xit|[Rr]eturn|make|Signals|EXIT")
_STATUS_KEYS = frozenset({"code", "status", "statuscode", "httpstatus", "errorcode"})


@dataclass(frozen=True, slots=True)
class Codes:
    codes: frozenset[str]
    statuses: frozenset[int]
    exits: frozenset[int]


def find_codes(text: str) -> Codes:
    # AWS writes com.amazonaws.dynamodb#ThrottlingException.
    fields = [
        (folded(found["key"]), found["value"].rpartition("#")[2]) for found in _FIELD.finditer(text)
    ]
    words = (word for pattern in _WORDS for word in pattern.findall(text))
    return Codes(
        codes=frozenset(map(folded, (*words, *(value for _, value in fields)))),
        statuses=frozenset((*_statuses(text), *_field_statuses(fields))),
        exits=frozenset(_exits(text, fields)),
    )


def _statuses(text: str) -> Iterator[int]:
    for found in islice(_NUMBER.finditer(text), _MOST_NUMBERS):
        start, end = found.span()
        opens = start == 0 and text[end : end + 2].startswith((":", " {", " -"))
        if opens or _is_status(text[max(0, start - 45) : start], text[end : end + 35]):
            yield int(found.group())


def _is_status(before: str, after: str) -> bool:
    """A number of three digits is one where the words around it say so."""
    in_brackets = before[-1:] + after[:1] in ("()", "[]")
    return bool(
        in_brackets
        or _STATUS_BEFORE.search(before)
        or _REASON_AFTER.match(after)
        or _REASON_BEFORE.search(before)
    )


def _field_statuses(fields: list[tuple[str, str]]) -> Iterator[int]:
    for key, value in fields:
        if key in _STATUS_KEYS and len(value) == 3 and value.isdecimal() and "400" <= value < "600":
            yield int(value)


def _exits(text: str, fields: list[tuple[str, str]]) -> Iterator[int]:
    for found in _EXIT.finditer(text) if _EXIT_HINT.search(text) else ():
        yield -int(found["signal"]) if found["signal"] else int(found["plain"] or found["make"])
    for key, value in fields:
        if key == "exitcode" and value.lstrip("-").isdecimal() and len(value) < 4:
            yield int(value)
