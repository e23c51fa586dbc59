"""Extracts the evidence from a failure and sorts it by how far it can be trusted."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from duecourse.domain.failures.classifier.error_codes import find_codes
from duecourse.domain.failures.classifier.exception_lines import (
    exception_type,
    find_exception_lines,
)
from duecourse.domain.failures.classifier.log_lines import Line, LineKind, parse_lines
from duecourse.domain.failures.classifier.phrase import SearchText
from duecourse.domain.failures.classifier.rule import normalize_code
from duecourse.domain.failures.classifier.source_location import find_source_matches
from duecourse.domain.failures.classifier.source_match import MatchStyle, SourceMatch
from duecourse.domain.failures.failure import Failure

_URL_PATTERN = re.compile(r"\b[a-zA-Z][a-zA-Z0-9+.-]{1,20}://[^\s\"'<>)\]}|]+")
# In the middle of a line, a type counts only if it is raised, not if a compiler quotes it.
_RAISED_TYPE = re.compile(
    r"(?<![\w'\"`])(?:[\w$]{1,60}[.:]{1,2}){0,6}([A-Z]\w{2,80}(?:Error|Exception))(?=[:(\[]\S?|\s?-\s)"
    r"|raised ([A-Z]\w{2,80})|\(([A-Z]\w{2,80}(?:Error|Exception))\)"
)
# The expected and the actual value of a failed test, each on its own line.
_EXPECTED_LINE = re.compile(
    r"\W{0,6}(?:expected|expecting|wanted|want|erwartet|attendu|esperado|previsto|ожидалось"
    r"|ожидаемое|预期|期望|期待|예상)(?!\w)",
    re.IGNORECASE,
)
_ACTUAL_LINE = re.compile(
    r"\W{0,6}(?:actual|actually|received|got|but was|but got|found|tatsächlich|erhalten|obtenu|reçu"
    r"|obtenido|recibido|obtido|recebido|ottenuto|получено|фактическое|实际|実際|실제)(?!\w)",
    re.IGNORECASE,
)
_FAILED_MARK = re.compile(r"\*{3} ?FAILED(?: ?\*{3}|$)|\.{3} ?\*{3}(?:Failed|FAILED|Exception)")
# `UnexpectedModelBehavior: ...` may be a type or the name of a component that logs.
_LEADING_TYPE = re.compile(
    r"^([A-Z][a-z0-9]{1,40}(?:[A-Z][a-z0-9]{0,40}){1,8})(?::\s|$)", re.MULTILINE
)
_CODE_FRAME = re.compile(r"(?:> ?)?\d{1,6} ?[|│]")
_NEARBY_LINES = 6
_MAX_BODY_LEAD = 160
_MAX_BODY = 20_000
_NO_CODES = find_codes("")
_NO_TEXT = SearchText("")
# Layouts that identify an error even if its words are unknown. Rules use them as codes.
EXPECTED_AND_ACTUAL = "expected-and-actual"
FAILED_BETWEEN_STARS = "failed-between-stars"
STACK_TRACE = "stack-of-frames"
SOURCE_DIAGNOSTIC = "place-in-the-source"


@dataclass(frozen=True, slots=True)
class EvidenceTier:
    """The evidence from some of the lines, with names normalized by `normalize_code`.

    `types`: exception types. `names`: the types, all codes and the layouts of the whole text; a
    type in one language is a code in another, so rules match either.
    """

    types: frozenset[str]
    names: frozenset[str]
    statuses: frozenset[int]
    exit_codes: frozenset[int]
    text: SearchText


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """All evidence. `tiers` go from most to least trusted; the last one covers all prose.

    `fields`: the type, code and status that the failure names itself, or its JSON body.
    """

    tiers: tuple[EvidenceTier, ...]
    fields: EvidenceTier
    source_matches: tuple[SourceMatch, ...]

    @property
    def full_text(self) -> SearchText:
        return self.tiers[-1].text


def collect_evidence(failure: Failure) -> Evidence:
    lines = parse_lines(_full_text(failure))
    verdict = find_exception_lines(lines)
    places = tuple(find_source_matches(lines))
    forms = _normalize_codes(*_find_forms(lines, places))
    texts = dict.fromkeys(filter(None, (verdict.exception, verdict.error_prose, verdict.all_prose)))
    testimonies = tuple(_build_tier(failure, text, forms) for text in texts or [()])
    return Evidence(testimonies, _read_fields(failure), places)


def _read_fields(failure: Failure) -> EvidenceTier:
    types = _normalize_codes(_type_basename(failure.type or ""))
    codes = find_codes(failure.message) if _is_json_body(failure.message) else _NO_CODES
    return EvidenceTier(
        types=types,
        names=types | codes.field_codes | _normalize_codes(failure.code),
        statuses=frozenset({failure.status}) if failure.status else codes.statuses,
        exit_codes=frozenset(),
        text=_NO_TEXT,
    )


def _is_json_body(message: str) -> bool:
    """Return whether all of the message is one body, as in `Error code: 429 - {"error": ...}`."""
    before, brace, _ = message[:_MAX_BODY_LEAD].partition("{")
    return (
        bool(brace)
        and "\n" not in before.strip()
        and len(message) <= _MAX_BODY
        and message.rstrip().endswith("}")
    )


def _find_forms(lines: Sequence[Line], source_matches: Iterable[SourceMatch]) -> Iterator[str]:
    styles = {place.style for place in source_matches}
    has_frame = any(_CODE_FRAME.match(line.text) for line in lines)
    if styles & {MatchStyle.ERROR, MatchStyle.REMARK} or (
        has_frame and styles - {MatchStyle.PYTHON}
    ):
        yield SOURCE_DIAGNOSTIC
    if any(line.kind is LineKind.FRAME for line in lines):
        yield STACK_TRACE
    if any(_FAILED_MARK.search(line.text) for line in lines if "***" in line.text):
        yield FAILED_BETWEEN_STARS
    expected = [
        index for index, line in enumerate(lines) if _is_prose_matching(_EXPECTED_LINE, line)
    ]
    if expected and any(
        _is_prose_matching(_ACTUAL_LINE, near)
        for index in expected[:_NEARBY_LINES]
        for near in lines[max(0, index - _NEARBY_LINES) : index + _NEARBY_LINES]
    ):
        yield EXPECTED_AND_ACTUAL


def _is_prose_matching(pattern: re.Pattern[str], line: Line) -> bool:
    return line.kind is LineKind.PROSE and pattern.match(line.text) is not None


def _full_text(failure: Failure) -> str:
    return f"{failure.traceback}\n{failure.message}" if failure.traceback else failure.message


def _build_tier(failure: Failure, lines: Iterable[str], forms: frozenset[str]) -> EvidenceTier:
    masked = [_URL_PATTERN.sub("url", line) if "://" in line else line for line in lines]
    text = "\n".join(masked)
    codes = find_codes(text)
    named = (name for found in _RAISED_TYPE.findall(text) for name in found)
    types = _normalize_codes(
        _type_basename(failure.type or ""), *named, *map(exception_type, masked)
    )
    return EvidenceTier(
        types=types,
        names=types
        | codes.codes
        | forms
        | _normalize_codes(failure.code, *_LEADING_TYPE.findall(text)),
        statuses=frozenset({failure.status}) if failure.status else codes.statuses,
        exit_codes=codes.exit_codes,
        text=SearchText(f"{text}\n{codes.words}"),
    )


def _normalize_codes(*names: str | None) -> frozenset[str]:
    return frozenset(normalize_code(name) for name in names if name)


def _type_basename(name: str) -> str:
    return re.split(r"[.:\\/$]", name.rstrip(".:"))[-1]
