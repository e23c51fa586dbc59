"""Finds the source location of an error: the innermost line of the user's own code."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from duecourse.domain.failures.classifier.library_paths import is_library
from duecourse.domain.failures.classifier.listing_patterns import ListingReader
from duecourse.domain.failures.classifier.log_lines import Line, LineKind
from duecourse.domain.failures.classifier.source_match import MatchStyle, SourceMatch
from duecourse.domain.failures.classifier.source_patterns import match_line, match_prefix
from duecourse.domain.tasks.run_diagnosis import Location

# Lines that begin something other than an error.
_ASIDE = re.compile(
    r"(?:= )?(?:note|help|warning|info|Warning|WARNING|hint)\b|w: "
    r"|In file included from|from \S{1,300}[,:]$"
    r"|(?:PHP )?(?:Warning|Notice|Deprecated|Strict Standards): "
    r"|CMake (?:\w{1,20} )?Warning|-- .{0,40}Warning: "
)
# Lines that name their place before they say that it is not that of an error.
_PLACE_OF_WARNING = re.compile(
    r".{0,300}(?::|:\d{1,7} -) (?:[Nn]ote|[Ww]arning|Warnung|remark|NOTICE|WARNING|[WCR]\d{4})"
    r"(?: \w{1,12})?:"
    r"|.{0,300}:\d{1,7}: (?:\w{0,60}Warning:|\[(?:debug|info|trace)\])"
)
# Lines that belong to the error or the warning above them.
_CONTINUATION = re.compile(r"-->|─ |on \S{1,300} line \d|with [\w.\[\]\"-]{1,200},$")
_CAUSE = re.compile(r"Caused by: |\[cause\]: ")
_OCAML_WARNING = re.compile(r"Warning \d{1,4} \[")
_PYTEST_HEADER = re.compile(r"_{3,100} \S.{0,200} _{3,100}$")
_WARNING_PREFIX = re.compile(r"(?i:\bwarn)|^W\d{4} ")
# A stack trace may be logged as a warning, but it is still that of an error.
_DIAGNOSTICS = (MatchStyle.ERROR, MatchStyle.REMARK, MatchStyle.MENTION)


def choose_location(matches: Sequence[SourceMatch]) -> Location | None:
    """Return the most trusted place in the user's own code, or None.

    A compiler's first error wins, because later ones often follow from it. Places that are only
    mentioned must agree.
    """
    own = [match for match in matches if not is_library(match)]
    for style in MatchStyle:
        named = [match for match in own if match.style is style]
        if named and (chosen := _choose_match(style, named)) is not None:
            return Location(chosen.file, chosen.line)
    return None


def find_source_matches(lines: Sequence[Line]) -> list[SourceMatch]:
    matches: list[SourceMatch] = []
    listing = ListingReader()
    context = _Context()
    for line in lines:
        if line.kind is LineKind.BLANK:
            continue
        place = listing.read(line.text)
        if place is None and line.kind is not LineKind.CODE:
            context.advance(line)
            if matches and _OCAML_WARNING.match(line.text):
                matches.pop()
            place = _match_unless_warning(line, context)
        if place is not None:
            matches.append(
                replace(
                    place,
                    failed_test=context.failed_test,
                    trace=context.trace,
                    cause=context.cause,
                )
            )
    return matches


class _Context:
    """What the lines read so far say about the next one."""

    def __init__(self) -> None:
        self.is_aside = False
        self.failed_test = 0
        self.trace = 0
        self.cause = 0
        self._is_in_frames = False

    def advance(self, line: Line) -> None:
        self.failed_test += _PYTEST_HEADER.match(line.text) is not None
        self._advance_trace(line)
        if not _CONTINUATION.match(line.text):
            self.is_aside = _ASIDE.match(line.text) is not None

    def _advance_trace(self, line: Line) -> None:
        if _CAUSE.match(line.text):
            self.cause += 1
        elif line.kind is LineKind.PROSE and self._is_in_frames:
            self.trace, self.cause = self.trace + 1, 0
        self._is_in_frames = line.kind is LineKind.FRAME


def _match_unless_warning(line: Line, context: _Context) -> SourceMatch | None:
    if context.is_aside:
        return None
    place = match_prefix(line.prefix) or match_line(line.text)
    if place is None or _PLACE_OF_WARNING.match(line.text):
        return None
    is_logged_as_warning = _WARNING_PREFIX.search(line.prefix) is not None
    return None if is_logged_as_warning and place.style in _DIAGNOSTICS else place


def _choose_match(style: MatchStyle, own: Sequence[SourceMatch]) -> SourceMatch | None:
    if style is MatchStyle.PYTHON:
        # Of several failed tests the first counts; in a chain of exceptions the last one, because
        # it was not handled.
        first = min(match.failed_test for match in own)
        return [match for match in own if match.failed_test == first][-1]
    if style is MatchStyle.MENTION:
        return own[0] if len({(_basename(match), match.line) for match in own}) == 1 else None
    if style is MatchStyle.FRAME:
        # The frames of the root cause come last; those before only wrap it.
        chain = [match for match in own if match.trace == own[0].trace]
        return max(chain, key=lambda match: match.cause)
    return own[0]


def _basename(match: SourceMatch) -> str:
    """Return the file name alone, because tools name the same file with and without its path."""
    return re.split(r"[\\/]", match.file)[-1]
