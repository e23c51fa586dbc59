"""Finds error codes, HTTP statuses and exit codes in the text of an error."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from duecourse.domain.failures.classifier.rule import normalize_code

_QUOTE = r"""\\{0,4}["']?"""
# Fields in JSON, Python, JavaScript, Rust or logfmt; complete, truncated or escaped.
_FIELD_PATTERN = re.compile(
    rf"""(?<![\w.])(?:error\.?)?(?P<key>code|type|status|reason|__type|kind|errno|finish_?reason"""
    rf"""|stop_?reason|block_?reason|status_?code|http_?status|error_?code|error_?type|exit_?code)"""
    rf"""{_QUOTE}\s{{0,3}}[:=]\s{{0,6}}(?:String\(|Some\(|Number\()?{_QUOTE}"""
    rf"""(?P<value>-?[A-Za-z0-9_][\w.:#-]{{0,80}})""",
    re.IGNORECASE,
)
_CODE_PATTERNS = (
    re.compile(r"(?<![\w/\\.-])(?:WSA)?(E[A-Z0-9_]{3,20}|ERR_[A-Z_]{3,60})(?![\w/\\-])"),
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
_STATUS_PHRASES = (
    r"bad request|unauthori[sz]ed|payment required|forbidden|not found|request timeout|conflict"
    r"|payload too large|request entity too large|unprocessable|too many requests"
    r"|internal server error|bad gateway|service unavailable|service temporarily unavailable"
    r"|gateway time-?out|gateway timed out|overloaded"
)
_STATUS_NUMBER = re.compile(r"(?<![\w.:/-])[1-5]\d\d(?![\w]|[.,]\d)")
_STATUS_LABEL_BEFORE = re.compile(
    r"(?:https?/\d(?:\.\d)?|https?(?: ?(?:error|status|response|code)){0,2}|status(?: ?code)?"
    r"|(?:error|response|reply) code|api ?error|returned(?: error)?|with(?: a)?(?: status)?"
    r"|answered|[a-z]{0,30}error|exception|(?:response|unexpected|received|got) status)"
    r"""["']?\s{0,2}(?:code)?[:=\[( ]{1,3}\s?["']?$""",
    re.IGNORECASE,
)
_STATUS_PHRASE_AFTER = re.compile(rf"[:,)\]]?(?: -)? (?:{_STATUS_PHRASES})", re.IGNORECASE)
_STATUS_PHRASE_BEFORE = re.compile(rf"(?:{_STATUS_PHRASES}) ?[:(\[]? ?$", re.IGNORECASE)
_MAX_NUMBERS = 200
_EXIT_CODE_PATTERN = re.compile(
    r"(?:exit(?:ed)?(?: with)?(?: exit)?(?: non-zero)?(?: (?:code|status))?|exit_?code|return ?code"
    r"|exited \(|finished with exit code|exit status|returned a non-zero code|code=exited, status)"
    r"""["']?[:=( ]{1,3}["']?(?P<plain>-?\d{1,3})(?!\d|\.\d)"""
    r"|make(?:\[\d{1,2}\])?: \*\*\* .{0,200}(?:Error|错误|エラー|Fehler|Erreur) (?P<make>\d{1,3})$"
    r"|died with <Signals\.\w{2,12}: (?P<signal>\d{1,2})>",
    re.IGNORECASE | re.MULTILINE,
)
_EXIT_HINT = re.compile(r"[Ee]xit|[Rr]eturn|make|Signals|EXIT")
# System messages are translated, but their numbers are not.
_SYSTEM_ERROR_PATTERN = re.compile(
    r"(?P<system>winerror|wsa|os error|errno)(?:\]|:|=)?\s?\[?(?P<number>-?\d{1,5})(?![\d.])",
    re.IGNORECASE,
)
_UNIX_ERRNOS = {
    1: "EPERM", 2: "ENOENT", 11: "EAGAIN", 12: "ENOMEM", 13: "EACCES", 16: "EBUSY", 17: "EEXIST",
    20: "ENOTDIR", 21: "EISDIR", 23: "ENFILE", 24: "EMFILE", 26: "ETXTBSY", 28: "ENOSPC",
    30: "EROFS", 32: "EPIPE", 39: "ENOTEMPTY", 51: "ENETUNREACH", 54: "ECONNRESET",
    60: "ETIMEDOUT", 61: "ECONNREFUSED", 65: "EHOSTUNREACH", 98: "EADDRINUSE", 100: "ENETDOWN",
    101: "ENETUNREACH", 103: "ECONNABORTED", 104: "ECONNRESET", 110: "ETIMEDOUT",
    111: "ECONNREFUSED", 112: "EHOSTDOWN", 113: "EHOSTUNREACH", 122: "EDQUOT",
}  # fmt: skip
_WINDOWS_ERRNOS = {
    2: "ENOENT", 3: "ENOENT", 4: "EMFILE", 5: "EACCES", 8: "ENOMEM", 14: "ENOMEM", 32: "EBUSY",
    33: "EBUSY", 53: "EHOSTUNREACH", 64: "ECONNRESET", 80: "EEXIST", 112: "ENOSPC",
    121: "ETIMEDOUT", 126: "ERR_DLOPEN_FAILED", 145: "ENOTEMPTY", 183: "EEXIST", 193: "ENOEXEC",
    206: "ENAMETOOLONG", 1225: "ECONNREFUSED", 1231: "ENETUNREACH", 1455: "ENOMEM",
    10013: "EACCES", 10024: "EMFILE", 10048: "EADDRINUSE", 10050: "ENETDOWN",
    10051: "ENETUNREACH", 10052: "ECONNRESET", 10053: "ECONNABORTED", 10054: "ECONNRESET",
    10055: "ENOMEM", 10060: "ETIMEDOUT", 10061: "ECONNREFUSED", 10064: "EHOSTDOWN",
    10065: "EHOSTUNREACH", 11001: "ENOTFOUND", 11002: "EAI_AGAIN", 11003: "ENOTFOUND",
    11004: "ENOTFOUND",
}  # fmt: skip
_WINSOCK_BASE = 10_000
_STATUS_KEYS = frozenset({"code", "status", "statuscode", "httpstatus", "errorcode"})
# A standalone code: FUNCTION_TIMEOUT or (MEMORY_LIMIT_EXCEEDED), but not $VARIABLE.
_UPPERCASE_CODE = re.compile(
    r"(?<![\w$.{/=-])[A-Z][A-Z0-9]{1,30}(?:_[A-Z0-9]{1,30}){1,6}(?![\w=/-]|\.\w)"
)
_LEADING_CODE = re.compile(r"^[a-z]{2,30}(?:_[a-z]{2,30}){1,6}(?=: )", re.MULTILINE)
_MAX_WORD_CODES = 50


@dataclass(frozen=True, slots=True)
class ErrorCodes:
    """What `find_codes` found. `words` spells codes out, so that phrases match unlisted ones.

    `field_codes`: those that are values of a field such as `code` or `type`.
    """

    codes: frozenset[str]
    statuses: frozenset[int]
    exit_codes: frozenset[int]
    field_codes: frozenset[str]
    words: str


def find_codes(text: str) -> ErrorCodes:
    # AWS writes com.amazonaws.dynamodb#ThrottlingException.
    fields = [
        (normalize_code(found["key"]), found["value"].rpartition("#")[2])
        for found in _FIELD_PATTERN.finditer(text)
    ]
    values = [value for _, value in fields]
    alone = list(_find_standalone_codes(text))
    words = (word for pattern in _CODE_PATTERNS for word in pattern.findall(text))
    return ErrorCodes(
        codes=frozenset(map(normalize_code, (*words, *alone, *_find_system_codes(text), *values))),
        statuses=frozenset((*_find_statuses(text), *_find_field_statuses(fields))),
        exit_codes=frozenset(_find_exit_codes(text, fields)),
        field_codes=frozenset(map(normalize_code, values)),
        words=_to_words((*alone, *(value for value in values[:_MAX_WORD_CODES] if "_" in value))),
    )


def _find_standalone_codes(text: str) -> Iterator[str]:
    for pattern in (_UPPERCASE_CODE, _LEADING_CODE):
        yield from islice((found.group() for found in pattern.finditer(text)), _MAX_WORD_CODES)


def _to_words(codes: Iterable[str]) -> str:
    """Spell out codes: MEMORY_LIMIT_EXCEEDED becomes `memory limit exceeded`."""
    return " | ".join(code.replace("_", " ").lower() for code in dict.fromkeys(codes))


def _find_system_codes(text: str) -> Iterator[str]:
    """Yield the names of system errors given only by number: `[WinError 10061] ...`."""
    for found in _SYSTEM_ERROR_PATTERN.finditer(text):
        number = abs(int(found["number"]))
        is_windows = found["system"].lower() in ("winerror", "wsa") or number > _WINSOCK_BASE
        if found["number"] in ("-2", "-3", "-5") and text[found.end() : found.end() + 1] == "]":
            yield "ENOTFOUND"  # Python's form of getaddrinfo errors
        elif code := (_WINDOWS_ERRNOS if is_windows else _UNIX_ERRNOS).get(number):
            yield code


def _find_statuses(text: str) -> Iterator[int]:
    for found in islice(_STATUS_NUMBER.finditer(text), _MAX_NUMBERS):
        start, end = found.span()
        opens = start == 0 and text[end : end + 2].startswith((":", " {", " -"))
        if opens or _is_status(text[max(0, start - 45) : start], text[end : end + 35]):
            yield int(found.group())


def _is_status(before: str, after: str) -> bool:
    """Return whether the text around a three-digit number marks it as an HTTP status."""
    in_brackets = before[-1:] + after[:1] in ("()", "[]")
    return bool(
        in_brackets
        or _STATUS_LABEL_BEFORE.search(before)
        or _STATUS_PHRASE_AFTER.match(after)
        or _STATUS_PHRASE_BEFORE.search(before)
    )


def _find_field_statuses(fields: list[tuple[str, str]]) -> Iterator[int]:
    for key, value in fields:
        if key in _STATUS_KEYS and len(value) == 3 and value.isdecimal() and "400" <= value < "600":
            yield int(value)


def _find_exit_codes(text: str, fields: list[tuple[str, str]]) -> Iterator[int]:
    for found in _EXIT_CODE_PATTERN.finditer(text) if _EXIT_HINT.search(text) else ():
        yield -int(found["signal"]) if found["signal"] else int(found["plain"] or found["make"])
    for key, value in fields:
        if key == "exitcode" and value.lstrip("-").isdecimal() and len(value) < 4:
            yield int(value)
