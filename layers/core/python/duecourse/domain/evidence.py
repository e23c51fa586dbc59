"""What a failure has to say, sorted by how much it can be trusted."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from duecourse.domain.error_codes import find_codes
from duecourse.domain.failure import Failure
from duecourse.domain.log_text import Line, read_lines
from duecourse.domain.phrase import Text
from duecourse.domain.rule import folded
from duecourse.domain.verdict import find_verdict, raised_type

_URL = re.compile(r"\b[a-zA-Z][a-zA-Z0-9+.-]{1,20}://[^\s\"'<>)\]}|]+")
# A type in the middle of a line counts where it is raised, not where a compiler quotes it.
_NAMED = re.compile(
    r"(?<![\w'\"`])(?:[\w$]{1,60}[.:]{1,2}){0,6}([A-Z]\w{2,80}(?:Error|Exception))(?=[:(\[]\S?|\s?-\s)"
    r"|raised ([A-Z]\w{2,80})|\(([A-Z]\w{2,80}(?:Error|Exception))\)"
)


@dataclass(frozen=True, slots=True)
class Testimony:
    """What some of the lines say. `types` are those of exceptions; `names` are they and all codes,
    as what is a type in one language is a code in the next. Both are folded."""

    types: frozenset[str]
    names: frozenset[str]
    statuses: frozenset[int]
    exits: frozenset[int]
    text: Text


@dataclass(frozen=True, slots=True)
class Evidence:
    """`testimonies` from the most to the least trusted; the last is that of every line."""

    testimonies: tuple[Testimony, ...]
    lines: tuple[Line, ...]

    @property
    def loose(self) -> Text:
        return self.testimonies[-1].text


def evidence_of(failure: Failure) -> Evidence:
    lines = read_lines(_whole_text(failure))
    verdict = find_verdict(lines)
    texts = dict.fromkeys(filter(None, (verdict.focus, verdict.all, verdict.loose)))
    testimonies = tuple(_testimony(failure, text) for text in texts or [()])
    return Evidence(testimonies, tuple(lines))


def _whole_text(failure: Failure) -> str:
    return f"{failure.traceback}\n{failure.message}" if failure.traceback else failure.message


def _testimony(failure: Failure, lines: Iterable[str]) -> Testimony:
    told = [_URL.sub("url", line) if "://" in line else line for line in lines]
    text = "\n".join(told)
    codes = find_codes(text)
    named = (name for found in _NAMED.findall(text) for name in found)
    types = _folded(_last_part(failure.type or ""), *named, *map(raised_type, told))
    return Testimony(
        types=types,
        names=types | codes.codes | _folded(failure.code),
        statuses=frozenset({failure.status}) if failure.status else codes.statuses,
        exits=codes.exits,
        text=Text(text),
    )


def _folded(*names: str | None) -> frozenset[str]:
    return frozenset(folded(name) for name in names if name)


def _last_part(name: str) -> str:
    return re.split(r"[.:\\/$]", name.rstrip(".:"))[-1]
