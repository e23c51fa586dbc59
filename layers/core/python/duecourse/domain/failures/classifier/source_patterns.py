"""Finds the file and the line that one line of an error text names."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache

from duecourse.domain.failures.classifier.compiler_patterns import (
    ANNOTATION_PATTERN,
    ERROR_PATTERNS,
    REMARK_PATTERNS,
)
from duecourse.domain.failures.classifier.file_syntax import EXTENSIONS, NAMED_FILES
from duecourse.domain.failures.classifier.frame_patterns import (
    FRAME_PATTERNS,
    MENTION_PATTERNS,
    OUTERMOST_FIRST_PATTERNS,
)
from duecourse.domain.failures.classifier.source_match import MatchStyle, SourceMatch

MAX_LINE_LENGTH = 1_000
_Finder = Callable[[str], re.Match[str] | None]

# A quick check, because most lines name no file.
_HINT = re.compile(rf"\.(?:{EXTENSIONS})\b|File [\"~/A-Z]| line \d|\d: error: |{NAMED_FILES}")


@cache
def _finders() -> Sequence[tuple[MatchStyle, _Finder]]:
    """Return the patterns, compiled on first use: that takes longer than importing botocore."""
    patterns = (
        *ERROR_PATTERNS,
        *OUTERMOST_FIRST_PATTERNS,
        *REMARK_PATTERNS,
        *FRAME_PATTERNS,
        *MENTION_PATTERNS,
    )
    return [(style, _compile(pattern)) for style, pattern in patterns]


def _compile(pattern: str) -> _Finder:
    """Return a search, or a match if the pattern is anchored: a search would try every position."""
    compiled = re.compile(pattern)
    return compiled.match if pattern.startswith("^") else compiled.search


def match_line(line: str) -> SourceMatch | None:
    """Return the place of the first pattern that fits the line."""
    line = line[:MAX_LINE_LENGTH]
    if not _HINT.search(line):
        return None
    for style, find in _finders():
        if found := find(line):
            parts = found.groupdict()
            return SourceMatch(found["file"], int(found["line"]), style, parts.get("frame") or "")
    return None


def match_prefix(prefix: str) -> SourceMatch | None:
    """Return the place that the prefix of a line annotates."""
    if "file=" not in prefix or (found := re.search(ANNOTATION_PATTERN, prefix)) is None:
        return None
    return SourceMatch(found["file"], int(found["line"]), MatchStyle.ERROR)
