"""What a failure has to say, sorted by how much it can be trusted."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from duecourse.domain.failures.classifier.error_codes import find_codes
from duecourse.domain.failures.classifier.exception_lines import find_verdict, raised_type
from duecourse.domain.failures.classifier.log_lines import Kind, Line, read_lines
from duecourse.domain.failures.classifier.phrase import Text
from duecourse.domain.failures.classifier.rule import folded
from duecourse.domain.failures.classifier.source_location import places_of
from duecourse.domain.failures.classifier.source_patterns import Place, Style
from duecourse.domain.failures.failure import Failure

_URL = re.compile(r"\b[a-zA-Z][a-zA-Z0-9+.-]{1,20}://[^\s\"'<>)\]}|]+")
# A type in the middle of a line counts where it is raised, not where a compiler quotes it.
_NAMED = re.compile(
    r"(?<![\w'\"`])(?:[\w$]{1,60}[.:]{1,2}){0,6}([A-Z]\w{2,80}(?:Error|Exception))(?=[:(\[]\S?|\s?-\s)"
    r"|raised ([A-Z]\w{2,80})|\(([A-Z]\w{2,80}(?:Error|Exception))\)"
)
# What a test wanted and what it got, each on a line of its own.
_WANTED = re.compile(
    r"\W{0,6}(?:expected|expecting|wanted|want|erwartet|attendu|esperado|previsto|ожидалось"
    r"|ожидаемое|预期|期望|期待|예상)(?!\w)",
    re.IGNORECASE,
)
_GOT = re.compile(
    r"\W{0,6}(?:actual|actually|received|got|but was|but got|found|tatsächlich|erhalten|obtenu|reçu"
    r"|obtenido|recibido|obtido|recebido|ottenuto|получено|фактическое|实际|実際|실제)(?!\w)",
    re.IGNORECASE,
)
_MARKED = re.compile(r"\*{3} ?FAILED(?: ?\*{3}|$)|\.{3} ?\*{3}(?:Failed|FAILED|Exception)")
# `UnexpectedModelBehavior: ...` may be a type, or else a component that logs.
_HEAD = re.compile(r"^([A-Z][a-z0-9]{1,40}(?:[A-Z][a-z0-9]{0,40}){1,8})(?::\s|$)", re.MULTILINE)
_CODE_FRAME = re.compile(r"(?:> ?)?\d{1,6} ?[|│]")
_NEAR = 6
# Forms by which an error is told where its words are not known.
EXPECTATION = "expected-and-actual"
MARK = "failed-between-stars"
STACK = "stack-of-frames"
DIAGNOSTIC = "place-in-the-source"


@dataclass(frozen=True, slots=True)
class Testimony:
    """What some of the lines say. `types` are those of exceptions; `names` are they, all codes,
    as what is a type in one language is a code in the next, and the forms of the whole. All are
    folded."""

    types: frozenset[str]
    names: frozenset[str]
    statuses: frozenset[int]
    exits: frozenset[int]
    text: Text


@dataclass(frozen=True, slots=True)
class Evidence:
    """`testimonies` from the most to the least trusted; the last is that of every line."""

    testimonies: tuple[Testimony, ...]
    places: tuple[Place, ...]

    @property
    def loose(self) -> Text:
        return self.testimonies[-1].text


def evidence_of(failure: Failure) -> Evidence:
    lines = read_lines(_whole_text(failure))
    verdict = find_verdict(lines)
    places = tuple(places_of(lines))
    forms = _folded(*_forms(lines, places))
    texts = dict.fromkeys(filter(None, (verdict.focus, verdict.all, verdict.loose)))
    testimonies = tuple(_testimony(failure, text, forms) for text in texts or [()])
    return Evidence(testimonies, places)


def _forms(lines: Sequence[Line], places: Iterable[Place]) -> Iterator[str]:
    styles = {place.style for place in places}
    has_frame = any(_CODE_FRAME.match(line.text) for line in lines)
    if styles & {Style.ERROR, Style.REMARK} or (has_frame and styles - {Style.PYTHON}):
        yield DIAGNOSTIC
    if any(line.kind is Kind.FRAME for line in lines):
        yield STACK
    if any(_MARKED.search(line.text) for line in lines if "***" in line.text):
        yield MARK
    wanted = [index for index, line in enumerate(lines) if _is_prose_of(_WANTED, line)]
    if wanted and any(
        _is_prose_of(_GOT, near)
        for index in wanted[:_NEAR]
        for near in lines[max(0, index - _NEAR) : index + _NEAR]
    ):
        yield EXPECTATION


def _is_prose_of(pattern: re.Pattern[str], line: Line) -> bool:
    return line.kind is Kind.PROSE and pattern.match(line.text) is not None


def _whole_text(failure: Failure) -> str:
    return f"{failure.traceback}\n{failure.message}" if failure.traceback else failure.message


def _testimony(failure: Failure, lines: Iterable[str], forms: frozenset[str]) -> Testimony:
    told = [_URL.sub("url", line) if "://" in line else line for line in lines]
    text = "\n".join(told)
    codes = find_codes(text)
    named = (name for found in _NAMED.findall(text) for name in found)
    types = _folded(_last_part(failure.type or ""), *named, *map(raised_type, told))
    return Testimony(
        types=types,
        names=types | codes.codes | forms | _folded(failure.code, *_HEAD.findall(text)),
        statuses=frozenset({failure.status}) if failure.status else codes.statuses,
        exits=codes.exits,
        text=Text(f"{text}\n{codes.spoken}"),
    )


def _folded(*names: str | None) -> frozenset[str]:
    return frozenset(folded(name) for name in names if name)


def _last_part(name: str) -> str:
    return re.split(r"[.:\\/$]", name.rstrip(".:"))[-1]
