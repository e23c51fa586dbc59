"""Reads reports that name the file once, as a heading, and the lines of its errors below."""

from __future__ import annotations

import re
from functools import cache

from duecourse.domain.failures.classifier.file_syntax import FILE, LINE
from duecourse.domain.failures.classifier.source_match import MatchStyle, SourceMatch

# Each tool's heading, and its line for an error.
_LISTINGS = (
    # ESLint, stylelint, yamllint
    (rf"{FILE}$", rf"{LINE}:\d{{1,6}}\s{{1,20}}(?:error|✖|×)\s"),
    # PHPStan
    (rf"Line\s{{2,9}}{FILE}$", rf"{LINE}\s{{2,9}}\S"),
    # sqlfluff
    (rf"== \[{FILE}\] FAIL", rf"L:\s{{1,9}}{LINE} \|"),
    # dbt
    (rf"\w{{1,20}} Error in \w{{1,20}} \S{{1,100}} \({FILE}\)$", rf"line {LINE}$"),
    # Ansible 1
    (
        rf"Syntax Error while loading YAML script, {FILE}$",
        rf"Note: The error .{{1,60}}: line {LINE},",
    ),
    # Flyway
    (rf"Location\s{{1,9}}: {FILE}(?: \(|$)", rf"Line\s{{1,9}}: {LINE}$"),
    # Elm
    (rf"-- [A-Z ]{{3,60}} -{{3,200}} {FILE}$", rf"{LINE}\|"),
)

_ROW_STARTS = "0123456789LlN"


@cache
def _compiled_listings() -> list[tuple[re.Pattern[str], re.Pattern[str]]]:
    return [(re.compile(heading), re.compile(row)) for heading, row in _LISTINGS]


class ListingReader:
    """Remembers the latest heading, and gives the places of the lines below it."""

    def __init__(self) -> None:
        self._file = ""
        self._row: re.Pattern[str] | None = None

    def read(self, line: str) -> SourceMatch | None:
        if self._row is not None and line[:1] in _ROW_STARTS and (found := self._row.match(line)):
            return SourceMatch(self._file, int(found["line"]), MatchStyle.ERROR)
        if "." in line[-13:] or line.startswith("Location"):
            self._read_heading(line)
        return None

    def _read_heading(self, line: str) -> None:
        for heading, row in _compiled_listings():
            if found := heading.match(line):
                self._file, self._row = found["file"], row
                return
