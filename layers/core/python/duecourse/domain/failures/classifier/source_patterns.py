"""Patterns for file and line in the output of compilers, test runners and stack traces."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache

_EXTENSIONS = (
    "py|pyx|pyi|ipynb|tsx?|jsx?|mjs|cjs|mts|cts|vue|svelte|astro|java|kts?|scala|sc|groovy|gradle"
    "|clj|go|rs|c|h|cc|cpp|cxx|hpp|hh|cu|mm?|swift|rb|erb|rake|php|phtml|pl|pm|t|lua|exs?|eex|erl"
    "|hrl|hs|lhs|mli?|fsx?|cs|cshtml|razor|vb|dart|r|R|Rmd|jl|sh|bash|zsh|ps1|psm1|bat|sql|tf"
    "|hcl|tfvars|ya?ml|json|toml|xml|html?|css|scss|less|sass|cmake|txt|mk|proto|graphql|zig|nim"
    "|sol|sv|vhdl?|elm|csproj|fsproj|vcxproj|props|targets|nix|bzl|conf|cfg|ini|feature|tex|asm|s|bats|cr|ino|exp|phpt|coffee|ex|mdx?|rst|j2|tpl|twig|hbs|ejs|pug|adoc|v|svh|rego|gd|wgsl|glsl|d|pas|f90|jsonnet|cue|dhall|prisma"
)
_FILE = (
    rf"(?P<file>(?:file://)?(?:[A-Za-z]:(?=[\\/]))?[^\s:()\[\]\"'<>|,*?`=]{{0,300}}"
    rf"(?:\.(?:{_EXTENSIONS})|\b(?:Rakefile|Gemfile|Makefile|Dockerfile|Jenkinsfile|Podfile)))"
)
_FILE_WITH_SPACES = r"(?P<file>(?:file://)?(?:[A-Za-z]:)?[^:\"*?<>|]{1,300})"
_LINE = r"(?P<line>\d{1,7})"
# The word `error` in the languages of compiler messages.
_ERROR = (
    r"(?i:(?:fatal |internal compiler )?error|fehler|schwerer fehler|erreur|errore|erro\b|ошибка"
    r"|фатальная ошибка|错误|致命错误|エラー|致命的エラー|오류|hata|błąd|fout|fel)"
)


MAX_LINE_LENGTH = 1_000


class MatchStyle(Enum):
    """How a line names a place, most trusted first."""

    PANIC = 0
    ERROR = 1
    PYTHON = 2
    REMARK = 3
    FRAME = 4
    MENTION = 5


@dataclass(frozen=True, slots=True)
class SourceMatch:
    file: str
    line: int
    style: MatchStyle
    frame: str = ""


_PATTERNS = (
    (MatchStyle.PANIC, rf"panicked at (?:'.{{0,300}}', )?{_FILE}:{_LINE}"),
    (MatchStyle.PYTHON, rf"""(?:^|\s)File "(?P<file>[^"]{{1,400}})", line {_LINE}"""),
    (MatchStyle.PYTHON, rf"^File (?P<file>[~/A-Z]\S{{1,400}}):{_LINE}, in "),
    (
        MatchStyle.PYTHON,
        rf"^{_FILE}:{_LINE}: in (?!main chunk|function|local |method |field |upvalue )[\w<]",
    ),
    (MatchStyle.PYTHON, rf"^{_FILE}:{_LINE}: [A-Z]\w{{2,80}}$"),
    (
        MatchStyle.ERROR,
        rf"^(?:\[\w{{2,8}}\] |\w{{1,12}}: )?(?:ERROR in )?{_FILE} ?"
        rf"\({_LINE}(?:, ?\d{{1,6}}){{0,3}}\)(?::? {{0,3}}{_ERROR}|$)",
    ),
    (MatchStyle.ERROR, rf"^{_FILE}:{_LINE}(?::\d{{1,6}})?(?:-\d{{1,6}})?:? (?:- )?{_ERROR}"),
    (MatchStyle.ERROR, rf"^{_FILE}:{_LINE}(?::\d{{1,6}})?: Failure"),
    (MatchStyle.ERROR, rf"^{_FILE}:\[{_LINE},\d{{1,6}}\]"),
    (MatchStyle.ERROR, rf"^e: {_FILE_WITH_SPACES}(?:: \(|:){_LINE}(?:, |:)\d{{1,6}}"),
    (MatchStyle.ERROR, rf"^--> {_FILE}:{_LINE}:"),
    (MatchStyle.ERROR, rf"^CMake Error at {_FILE}:{_LINE}"),
    (MatchStyle.REMARK, rf"\bat {_FILE}\({_LINE}\)(?=:)"),
    (MatchStyle.ERROR, rf"^%Error(?:-\w{{1,40}})?: {_FILE}:{_LINE}:"),
    (MatchStyle.ERROR, rf"^on {_FILE} line {_LINE}[,:]"),
    (MatchStyle.ERROR, rf"^ERROR in {_FILE}[: ]{_LINE}:\d"),
    (MatchStyle.ERROR, rf"^\*\* \(\w{{1,60}}\) {_FILE}:{_LINE}:"),
    (MatchStyle.ERROR, rf"^(?:File )?{_FILE}: {_ERROR} .{{0,200}}\({_LINE}:\d{{1,6}}\)"),
    (MatchStyle.ERROR, rf"^(?:SyntaxError: )?{_FILE}: .{{1,200}}\({_LINE}:\d{{1,6}}\)$"),
    (MatchStyle.REMARK, rf"^(?:\S{{1,40}}: )?{_FILE}: line {_LINE}: "),
    (
        MatchStyle.REMARK,
        rf"^(?:> |lua: |luajit: |\w{{1,12}}: )?{_FILE}:{_LINE}(?::\d{{1,6}})?:"
        r"(?! ?(?:recipe for|\d|note|warning|in (?:function|main|local|method|field|upvalue)"
        r"|in [`']))",
    ),
    (MatchStyle.REMARK, rf"\b(?:in|at|in test file) {_FILE},?(?: on)? line {_LINE}\b"),
    (MatchStyle.REMARK, rf"\bon line {_LINE} of {_FILE}(?!\w)"),
    (MatchStyle.REMARK, rf"\btemplate: {_FILE}:{_LINE}:"),
    (MatchStyle.REMARK, rf"^Loc: \[{_FILE}\({_LINE}\)\]"),
    (MatchStyle.REMARK, rf"^{_FILE}\|{_LINE}\|"),
    (MatchStyle.REMARK, rf"\bin {_FILE}:{_LINE}$"),
    (MatchStyle.REMARK, rf"""^in "{_FILE}", line {_LINE}"""),
    (MatchStyle.REMARK, rf"Error Trace:\s{{0,20}}{_FILE}:{_LINE}"),
    (
        MatchStyle.REMARK,
        rf"(?:Failure|Error|FAILURE|ERROR) \('?{_FILE}:{_LINE}(?::\d{{1,6}})?'?\)",
    ),
    (MatchStyle.FRAME, rf"^at (?:(?P<frame>[^()]{{0,300}})\()?(?:async )?{_FILE}:{_LINE}"),
    (MatchStyle.FRAME, rf"^at .{{0,300}} in {_FILE_WITH_SPACES}:line {_LINE}"),
    (MatchStyle.FRAME, rf"^(?:from |# )?{_FILE}:{_LINE}(?::in [`'].{{0,300}})?$"),
    (MatchStyle.FRAME, rf"^{_FILE}:{_LINE}:in [`']"),
    (MatchStyle.FRAME, rf"^{_FILE}:{_LINE}:\d{{1,6}}$"),
    (MatchStyle.FRAME, rf"^{_FILE}:{_LINE} \+0x"),
    (
        MatchStyle.FRAME,
        rf"^#\d{{1,4}} {{1,4}}(?:0x\w{{1,20}} in .{{1,300}} )?{_FILE}[:(]{_LINE}",
    ),
    (MatchStyle.FRAME, rf"^{_FILE} {_LINE}:\d{{1,6}} "),
    (MatchStyle.FRAME, rf"^\(\w[\w ]{{0,60}} [\d.]{{1,20}}\) {_FILE}:{_LINE}: "),
    (MatchStyle.MENTION, rf"\({_FILE}:{_LINE}(?::\d{{1,6}})?\)$"),
    (MatchStyle.MENTION, rf"(?:^|[\s(\[]){_FILE}:{_LINE}(?::\d{{1,6}})?(?=[\s,;)\].]|$)"),
)


# A quick check, because most lines name no file.
_HINT = re.compile(
    rf"\.(?:{_EXTENSIONS})\b|File [\"~/A-Z]|(?:Rake|Gem|Make|Docker|Jenkins|Pod)file"
)


@cache
def _compiled_patterns() -> Sequence[tuple[MatchStyle, re.Pattern[str]]]:
    """Return the patterns, compiled on first use: that takes longer than importing botocore."""
    return [(style, re.compile(pattern)) for style, pattern in _PATTERNS]


def match_line(line: str) -> Iterator[SourceMatch]:
    """Yield at most one match: that of the first pattern that fits the line."""
    line = line[:MAX_LINE_LENGTH]
    if not _HINT.search(line):
        return
    for style, pattern in _compiled_patterns():
        if found := pattern.search(line):
            file = found["file"].removeprefix("file://")
            parts = found.groupdict()
            yield SourceMatch(file, int(found["line"]), style, parts.get("frame") or "")
            return
