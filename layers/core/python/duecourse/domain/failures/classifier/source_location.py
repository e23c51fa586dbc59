"""Where in the code an error happened: the innermost line that is the program's own."""

from __future__ import annotations

import re
from collections.abc import Sequence

from duecourse.domain.failures.classifier.log_lines import Kind, Line
from duecourse.domain.failures.classifier.source_patterns import Place, Style, places_in
from duecourse.domain.tasks.run_diagnosis import Location

_RUNTIME = re.compile(
    r"[\\/]python\d?(?:\.\d{1,2})?[\\/](?!site-packages|dist-packages)|[\\/]Lib[\\/](?!site-packages)"
    r"|^<|^node:|^internal[\\/]|/rustc/|/usr/(?:local/)?go/src/|/go\d[\d.]*/src/|^/usr/lib/"
    r"|^(?:events|util|fs|net|tls|dns|timers|module|node|child_process|_http_\w+|_stream_\w+"
    r"|_tls_\w+|bootstrap_node|assert|vm|zlib|stream|domain|next_tick|task_queues)\.js$"
    r"|^concurrent[\\/]futures|^asyncio[\\/]|^\.\.\/sysdeps"
)
_LIBRARY = re.compile(
    r"[\\/](?:site-packages|dist-packages|node_modules|gems|pkg[\\/]mod|registry[\\/]src|vendor)[\\/]"
    r"|^(?:node_modules|vendor)[\\/]|webpack-internal|webpack:|\.cargo[\\/]"
)
_LIBRARY_FRAME = re.compile(
    r"(?:java\.base/)?(?:java|javax|jdk|sun|com\.sun|kotlin|scala|groovy|org\.(?:junit|gradle"
    r"|apache|springframework|hibernate|mockito|testng|assertj|eclipse|codehaus|jetbrains))[./]"
)
_ASIDE = re.compile(
    r"(?:= )?(?:note|help|warning|info)\b|.{0,300}: (?:note|warning|Warnung|remark):"
)
_HEADER = re.compile(r"Traceback \(most recent call last\)|Traceback:")


def location_of(places: Sequence[Place]) -> Location | None:
    """None where several places compete and nothing tells which of them is meant."""
    for style in Style:
        named = [place for place in places if place.style is style]
        if named and (place := _chosen(style, named)) is not None:
            return Location(place.file, place.line)
        if named and style in (Style.PANIC, Style.ERROR):
            return None
    return None


def places_of(lines: Sequence[Line]) -> list[Place]:
    places: list[Place] = []
    is_aside = False
    for line in lines:
        if line.kind in (Kind.CODE, Kind.BLANK):
            continue
        if _HEADER.match(line.text):
            # Of a chain of exceptions, the last is the one that came through.
            places = [place for place in places if place.style is not Style.PYTHON]
        if line.text[:3] != "-->":
            is_aside = _ASIDE.match(line.text) is not None
        if not is_aside:
            places.extend(places_in(line.text))
    return places


def _chosen(style: Style, places: Sequence[Place]) -> Place | None:
    if style is Style.PYTHON:
        return _innermost_of_python(places)
    own = [place for place in places if not _is_foreign(place)]
    if style in (Style.FRAME, Style.PANIC):
        return own[0] if own else None
    return own[0] if len({(_name(place), place.line) for place in own}) == 1 else None


def _innermost_of_python(places: Sequence[Place]) -> Place | None:
    """The last frame; a library's too, but not where it only stands in Python's own."""
    if not _RUNTIME.search(places[-1].file):
        return places[-1]
    own = [place for place in places if not _is_foreign(place)]
    return own[-1] if own else None


def _is_foreign(place: Place) -> bool:
    return bool(
        _RUNTIME.search(place.file)
        or _LIBRARY.search(place.file)
        or _LIBRARY_FRAME.match(place.frame)
    )


def _name(place: Place) -> str:
    """Tools name the same file by its path here and without it there."""
    return re.split(r"[\\/]", place.file)[-1]
