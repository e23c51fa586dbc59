"""Finds the source location of an error: the innermost line of the program's own code."""

from __future__ import annotations

import re
from collections.abc import Sequence

from duecourse.domain.failures.classifier.log_lines import Line, LineKind
from duecourse.domain.failures.classifier.source_patterns import MatchStyle, SourceMatch, match_line
from duecourse.domain.tasks.run_diagnosis import Location

_RUNTIME_PATH = re.compile(
    r"[\\/]python\d?(?:\.\d{1,2})?[\\/](?!site-packages|dist-packages)|[\\/]Lib[\\/](?!site-packages)"
    r"|^<|^node:|^internal[\\/]|/rustc/|/usr/(?:local/)?go/src/|/go\d[\d.]*/src/|^/usr/lib/"
    r"|^(?:events|util|fs|net|tls|dns|timers|module|node|child_process|_http_\w+|_stream_\w+"
    r"|_tls_\w+|bootstrap_node|assert|vm|zlib|stream|domain|next_tick|task_queues)\.js$"
    r"|^concurrent[\\/]futures|^asyncio[\\/]|^\.\.\/sysdeps"
)
_LIBRARY_PATH = re.compile(
    r"[\\/](?:site-packages|dist-packages|node_modules|gems|pkg[\\/]mod|registry[\\/]src|vendor)[\\/]"
    r"|^(?:node_modules|vendor)[\\/]|webpack-internal|webpack:|\.cargo[\\/]"
)
_LIBRARY_FRAME = re.compile(
    r"(?:java\.base/)?(?:java|javax|jdk|sun|com\.sun|kotlin|scala|groovy|org\.(?:junit|gradle"
    r"|apache|springframework|hibernate|mockito|testng|assertj|eclipse|codehaus|jetbrains))[./]"
)
_NOTE_LINE = re.compile(
    r"(?:= )?(?:note|help|warning|info)\b|.{0,300}: (?:note|warning|Warnung|remark):"
)
_TRACEBACK_HEADER = re.compile(r"Traceback \(most recent call last\)|Traceback:")


def choose_location(matches: Sequence[SourceMatch]) -> Location | None:
    """Return the most trusted location, or None if there is none or several are equally likely."""
    for style in MatchStyle:
        named = [place for place in matches if place.style is style]
        if named and (place := _choose_match(style, named)) is not None:
            return Location(place.file, place.line)
        if named and style in (MatchStyle.PANIC, MatchStyle.ERROR):
            return None
    return None


def find_source_matches(lines: Sequence[Line]) -> list[SourceMatch]:
    places: list[SourceMatch] = []
    is_aside = False
    for line in lines:
        if line.kind in (LineKind.CODE, LineKind.BLANK):
            continue
        if _TRACEBACK_HEADER.match(line.text):
            # In a chain of exceptions, the last one was not handled.
            places = [place for place in places if place.style is not MatchStyle.PYTHON]
        if line.text[:3] != "-->":
            is_aside = _NOTE_LINE.match(line.text) is not None
        if not is_aside:
            places.extend(match_line(line.text))
    return places


def _choose_match(style: MatchStyle, matches: Sequence[SourceMatch]) -> SourceMatch | None:
    if style is MatchStyle.PYTHON:
        return _innermost_python_frame(matches)
    own = [place for place in matches if not _is_third_party(place)]
    if style in (MatchStyle.FRAME, MatchStyle.PANIC):
        return own[0] if own else None
    return own[0] if len({(_basename(place), place.line) for place in own}) == 1 else None


def _innermost_python_frame(matches: Sequence[SourceMatch]) -> SourceMatch | None:
    """Return the last frame, even in a library.

    If it is in Python's own runtime, return the last frame of the program instead, or None.
    """
    if not _RUNTIME_PATH.search(matches[-1].file):
        return matches[-1]
    own = [place for place in matches if not _is_third_party(place)]
    return own[-1] if own else None


def _is_third_party(match: SourceMatch) -> bool:
    return bool(
        _RUNTIME_PATH.search(match.file)
        or _LIBRARY_PATH.search(match.file)
        or _LIBRARY_FRAME.match(match.frame)
    )


def _basename(match: SourceMatch) -> str:
    """Return the file name alone, because tools name the same file with and without its path."""
    return re.split(r"[\\/]", match.file)[-1]
