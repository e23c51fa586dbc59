"""Patterns for the frames of stack traces, and for places that are only mentioned."""

from __future__ import annotations

from duecourse.domain.failures.classifier.file_syntax import (
    COLUMN,
    FILE,
    FILE_WITH_SPACES,
    LINE,
)
from duecourse.domain.failures.classifier.source_match import MatchStyle

# Traces whose innermost frame comes last: Python, pytest, R, and the two marks of PyYAML.
OUTERMOST_FIRST_PATTERNS = (
    (MatchStyle.PYTHON, rf"""(?:^|\s)File "(?P<file>[^"]{{1,400}})", line {LINE}"""),
    (MatchStyle.PYTHON, rf"^File (?P<file>[~/A-Z]\S{{1,400}}):{LINE}, in "),
    (
        MatchStyle.PYTHON,
        rf"^{FILE}:{LINE}: in (?!main chunk|function|local |method |field |upvalue )[\w<]",
    ),
    (MatchStyle.PYTHON, rf"^{FILE}:{LINE}: [A-Z]\w{{2,80}}$"),
    (MatchStyle.PYTHON, rf"^{FILE}(?<=\.py):{LINE}:$"),
    (MatchStyle.PYTHON, rf"""^in "{FILE}", line {LINE}"""),
    (MatchStyle.PYTHON, rf"^\d{{1,4}}\. .{{1,300}} at {FILE}:{LINE}:\d{{1,6}}$"),
)

FRAME_PATTERNS = (
    (
        MatchStyle.FRAME,
        rf"^at (?:(?P<frame>[^()]{{0,300}})\()?(?:async )?{FILE}(?:\?[^\s:()]{{0,200}})?:{LINE}",
    ),
    (MatchStyle.FRAME, rf"^at .{{0,300}} in {FILE_WITH_SPACES}:line {LINE}"),
    (MatchStyle.FRAME, rf"^(?:from |# |\[\w{{1,20}}\])?{FILE}:{LINE}(?::in [`'].{{0,300}})?$"),
    (MatchStyle.FRAME, rf"^{FILE}:{LINE}:in [`']"),
    (MatchStyle.FRAME, rf"^(?:[\w.<>]{{1,100}} )?{FILE}:{LINE}:\d{{1,6}}$"),
    (MatchStyle.FRAME, rf"^{FILE}:{LINE}(?: \+0x|:\d{{1,6}}: 0x| \(\w{{1,60}}\)$)"),
    # Lua, Bugsnag
    (MatchStyle.FRAME, rf"^{FILE}:{LINE}: in (?:main chunk|function|local|method|field|upvalue)\b"),
    (MatchStyle.FRAME, rf"^{FILE}:{LINE} - (?P<frame>[\w.$<>]{{1,200}})$"),
    # Dart
    (MatchStyle.FRAME, rf"^(?P<file>package:[^\s():]{{1,300}}\.dart):{LINE}(?::\d{{1,6}})?$"),
    (
        MatchStyle.FRAME,
        rf"^#\d{{1,4}} {{1,9}}.{{1,200}} \((?:file://)?(?P<file>[^():]{{0,20}}:?[^():]{{1,300}}\.dart):{LINE}",
    ),
    (
        MatchStyle.FRAME,
        rf"^#\d{{1,4}} {{1,4}}(?:(?:0x\w{{1,20}} in )?.{{1,300}} )?{FILE}[:(]{LINE}",
    ),
    # Valgrind, Swift, Haskell, Julia, Elixir
    (
        MatchStyle.FRAME,
        rf"^(?:==\d{{1,9}}== {{1,9}})?(?:at|by) 0x\w{{1,20}}: .{{1,200}} \({FILE}:{LINE}\)$",
    ),
    (MatchStyle.FRAME, rf"^\d{{1,4}} (?:\[\w{{1,10}}\] )?0x\w{{1,20}} .{{1,300}} at {FILE}:{LINE}"),
    (MatchStyle.FRAME, rf"\bcalled at {FILE}:{LINE}"),
    (MatchStyle.FRAME, rf"^@ (?:(?P<frame>[\w.]{{1,100}}) )?{FILE}:{LINE}"),
    (MatchStyle.FRAME, rf"^\((?P<frame>\w[\w ]{{0,60}}?(?: [\w.-]{{1,30}})?)\) {FILE}:{LINE}: "),
    (MatchStyle.FRAME, rf"^{FILE} {LINE}:\d{{1,6}} "),
)

MENTION_PATTERNS = (
    (MatchStyle.MENTION, rf"\({FILE}:{LINE}{COLUMN}\)$"),
    (MatchStyle.MENTION, rf"(?:^|[\s(])(?<!See ){FILE}:{LINE}{COLUMN}(?=[\s,;)\].]|$)"),
    (MatchStyle.MENTION, rf"(?:^|\s){FILE}#L{LINE}\b"),
)
