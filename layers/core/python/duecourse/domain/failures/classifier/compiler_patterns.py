"""Patterns for the lines in which compilers, linters and parsers name a file and a line."""

from __future__ import annotations

from duecourse.domain.failures.classifier.file_syntax import (
    COLUMN,
    ERROR_WORD,
    FILE,
    FILE_WITH_SPACES,
    LINE,
)
from duecourse.domain.failures.classifier.source_match import MatchStyle

# Lines that certainly report an error.
ERROR_PATTERNS = (
    (MatchStyle.PANIC, rf"panicked at (?:'.{{0,300}}', )?{FILE}:{LINE}"),
    # OCaml, which would look like a frame of Python.
    (MatchStyle.ERROR, rf"""^File "{FILE}", lines? {LINE}(?:-\d{{1,6}})?, characters"""),
    (
        MatchStyle.ERROR,
        rf"^(?:\[\w{{2,8}}\] |\w{{1,12}}: )?(?:ERROR in )?(?:Error at )?{FILE} ?"
        rf"\({LINE}(?:, ?\d{{1,6}}){{0,3}}\)(?::? {{0,3}}{ERROR_WORD}|: |$)",
    ),
    (MatchStyle.ERROR, rf"^(?:psql:)?{FILE}:{LINE}{COLUMN}(?:-\d{{1,6}})?:? (?:- )?{ERROR_WORD}"),
    (MatchStyle.ERROR, rf"^{FILE}:{LINE}{COLUMN}: (?:Failure|FAILED)"),
    # A script without an extension
    (MatchStyle.ERROR, rf"^(?P<file>[\w.-]{{0,100}}/[\w./-]{{1,200}}):{LINE}{COLUMN}: error: "),
    (MatchStyle.ERROR, rf"^{FILE}:\[{LINE},\d{{1,6}}\]"),
    (MatchStyle.ERROR, rf"^e: {FILE_WITH_SPACES}(?:: \(|:){LINE}(?:, |:)\d{{1,6}}"),
    (MatchStyle.ERROR, rf"^--> {{1,4}}{FILE}:{LINE}"),
    (MatchStyle.ERROR, rf"^─ {FILE}:{LINE}:"),
    (MatchStyle.ERROR, rf"^-- .{{0,80}}Error: {FILE}:{LINE}:"),
    (MatchStyle.ERROR, rf"^CMake Error at {FILE}:{LINE}"),
    (MatchStyle.ERROR, rf"^%Error(?:-\w{{1,40}})?: {FILE}:{LINE}:"),
    (MatchStyle.ERROR, rf"^on {FILE} line {LINE}[,:]"),
    (MatchStyle.ERROR, rf"^ERROR in {FILE}[: ]{LINE}:\d"),
    # The error list of Visual Studio, copied
    (MatchStyle.ERROR, rf"^Error\t.{{1,400}}\t{FILE}\t{LINE}\b"),
    (MatchStyle.ERROR, rf"^\*\* \(\w{{1,60}}\) {FILE}:{LINE}:"),
    (MatchStyle.ERROR, rf"^(?:File )?{FILE}: {ERROR_WORD} .{{0,200}}\({LINE}:\d{{1,6}}\)"),
    (MatchStyle.ERROR, rf"^(?:SyntaxError: )?{FILE}: .{{1,200}}\({LINE}:\d{{1,6}}\)$"),
    (MatchStyle.ERROR, rf"\band defined in {FILE}:{LINE}"),
    (MatchStyle.ERROR, rf"\b(?P<file>Dockerfile) parse error(?: on)? line {LINE}:"),
)

# An annotation of GitHub Actions, which is removed from its line as a prefix.
ANNOTATION_PATTERN = (
    r"::error (?:[^:]{0,200},)?file=(?P<file>[^,:]{1,300}),(?:[^:]{0,200},)?line=(?P<line>\d{1,7})"
)

# Lines that comment on a place. Most report an error, but only their context tells.
REMARK_PATTERNS = (
    (MatchStyle.REMARK, rf"\bat {FILE}\({LINE}\)(?=:)"),
    (MatchStyle.REMARK, rf"^(?:\S{{1,40}}: )?{FILE}: (?:line )?{LINE}: "),
    (
        MatchStyle.REMARK,
        rf"^(?:> |psql:|[\w.]{{1,12}}: )?{FILE}:{LINE}{COLUMN}:"
        r"(?! ?(?:recipe for|\d|note|warning|in (?:function|main|local|method|field|upvalue)"
        r"|in [`']))",
    ),
    (MatchStyle.REMARK, rf"\b(?:[Ii]n|at|in test file) {FILE},?(?: on)? line {LINE}\b"),
    (MatchStyle.REMARK, rf"\bat (?P<file>[.~]{{0,2}}/[\w./-]{{1,200}}) line {LINE}[.,]"),
    (MatchStyle.REMARK, rf"\bin '(?P<file>[^']{{1,300}})': line {LINE}, column "),
    (MatchStyle.REMARK, rf"\bat line {LINE} in file: '(?P<file>[^']{{1,300}})'"),
    (MatchStyle.REMARK, rf"\bon line {LINE} of {FILE}(?!\w)"),
    # Helm's "parse error on" counts the lines of the rendered template.
    (MatchStyle.REMARK, rf"(?:^|(?<!error on)\s){FILE}: (?:.{{0,100}} )?yaml: line {LINE}\b"),
    (MatchStyle.REMARK, rf"\b(?:file|[Ss]cript) '(?P<file>[^']{{1,300}})' line: {LINE}$"),
    (MatchStyle.REMARK, rf"@ {FILE}, line {LINE}, column "),
    (MatchStyle.REMARK, rf"(?:^|\s){FILE} \(Line: {LINE}, Col: \d"),
    (MatchStyle.REMARK, rf"\boccurred: {FILE}:{LINE}:"),
    (MatchStyle.REMARK, rf"\b(?:template: |parse error at \(){FILE}:{LINE}[:)]"),
    (MatchStyle.REMARK, rf"^At {FILE}:{LINE} char:"),
    (MatchStyle.REMARK, rf"^file: {FILE}:{LINE}:"),
    (MatchStyle.REMARK, rf"^{FILE} \({LINE}:\d{{1,6}}\)(?:: |$)"),
    (MatchStyle.REMARK, rf"^Loc: \[{FILE}\({LINE}\)\]"),
    (MatchStyle.REMARK, rf"^{FILE}\|{LINE}\|"),
    (MatchStyle.REMARK, rf"\bin {FILE}:{LINE}$"),
    (MatchStyle.REMARK, rf"\bat {FILE}:{LINE}\)$"),
    # Gradle's summary of a failed test.
    (MatchStyle.REMARK, rf"^[\w.$]{{1,200}}(?:Error|Exception|Failure) at {FILE}:{LINE}$"),
    (MatchStyle.REMARK, rf"Error Trace:\s{{0,20}}{FILE}:{LINE}"),
    (MatchStyle.REMARK, rf"\[{FILE}:{LINE}\]:$"),
    (MatchStyle.REMARK, rf"\bError at {FILE}:{LINE}"),
    (MatchStyle.REMARK, rf"\(@{FILE}#{LINE}\)"),
    (MatchStyle.REMARK, rf"\b[Ee]rror\b[^:]{{0,80}}: {FILE}:{LINE}{COLUMN}:"),
    (MatchStyle.REMARK, rf"(?:Failure|Error|FAILURE|ERROR) \('?{FILE}:{LINE}{COLUMN}'?\)"),
)
