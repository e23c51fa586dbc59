"""The ways in which compilers, test runners and stacks name a file and a line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

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
_SPACED = r"(?P<file>(?:file://)?(?:[A-Za-z]:)?[^:\"*?<>|]{1,300})"
_LINE = r"(?P<line>\d{1,7})"
# What stands before the word `error` in the languages that compilers speak.
_ERROR = (
    r"(?i:(?:fatal |internal compiler )?error|fehler|schwerer fehler|erreur|errore|erro\b|ошибка"
    r"|фатальная ошибка|错误|致命错误|エラー|致命的エラー|오류|hata|błąd|fout|fel)"
)


LONGEST_LINE = 1_000


class Style(Enum):
    """In the order in which they are believed."""

    PANIC = 0
    ERROR = 1
    PYTHON = 2
    REMARK = 3
    FRAME = 4
    MENTION = 5


@dataclass(frozen=True, slots=True)
class Place:
    file: str
    line: int
    style: Style
    frame: str = ""


_PATTERNS = tuple(
    (style, re.compile(pattern))
    for style, pattern in (
        (Style.PANIC, rf"panicked at (?:'.{{0,300}}', )?{_FILE}:{_LINE}"),
        (Style.PYTHON, rf"""(?:^|\s)File "(?P<file>[^"]{{1,400}})", line {_LINE}"""),
        (Style.PYTHON, rf"^File (?P<file>[~/A-Z]\S{{1,400}}):{_LINE}, in "),
        (
            Style.PYTHON,
            rf"^{_FILE}:{_LINE}: in (?!main chunk|function|local |method |field |upvalue )[\w<]",
        ),
        (Style.PYTHON, rf"^{_FILE}:{_LINE}: [A-Z]\w{{2,80}}$"),
        (
            Style.ERROR,
            rf"^(?:\[\w{{2,8}}\] |\w{{1,12}}: )?(?:ERROR in )?{_FILE} ?"
            rf"\({_LINE}(?:, ?\d{{1,6}}){{0,3}}\)(?::? {{0,3}}{_ERROR}|$)",
        ),
        (Style.ERROR, rf"^{_FILE}:{_LINE}(?::\d{{1,6}})?(?:-\d{{1,6}})?:? (?:- )?{_ERROR}"),
        (Style.ERROR, rf"^{_FILE}:{_LINE}(?::\d{{1,6}})?: Failure"),
        (Style.ERROR, rf"^{_FILE}:\[{_LINE},\d{{1,6}}\]"),
        (Style.ERROR, rf"^e: {_SPACED}(?:: \(|:){_LINE}(?:, |:)\d{{1,6}}"),
        (Style.ERROR, rf"^--> {_FILE}:{_LINE}:"),
        (Style.ERROR, rf"^CMake Error at {_FILE}:{_LINE}"),
        (Style.REMARK, rf"\bat {_FILE}\({_LINE}\)(?=:)"),
        (Style.ERROR, rf"^%Error(?:-\w{{1,40}})?: {_FILE}:{_LINE}:"),
        (Style.ERROR, rf"^on {_FILE} line {_LINE}[,:]"),
        (Style.ERROR, rf"^ERROR in {_FILE}[: ]{_LINE}:\d"),
        (Style.ERROR, rf"^\*\* \(\w{{1,60}}\) {_FILE}:{_LINE}:"),
        (Style.ERROR, rf"^(?:File )?{_FILE}: {_ERROR} .{{0,200}}\({_LINE}:\d{{1,6}}\)"),
        (Style.ERROR, rf"^(?:SyntaxError: )?{_FILE}: .{{1,200}}\({_LINE}:\d{{1,6}}\)$"),
        (Style.REMARK, rf"^(?:\S{{1,40}}: )?{_FILE}: line {_LINE}: "),
        (
            Style.REMARK,
            rf"^(?:> |lua: |luajit: |\w{{1,12}}: )?{_FILE}:{_LINE}(?::\d{{1,6}})?:"
            r"(?! ?(?:recipe for|\d|note|warning|in (?:function|main|local|method|field|upvalue)"
            r"|in [`']))",
        ),
        (Style.REMARK, rf"\b(?:in|at|in test file) {_FILE},?(?: on)? line {_LINE}\b"),
        (Style.REMARK, rf"\bon line {_LINE} of {_FILE}(?!\w)"),
        (Style.REMARK, rf"\btemplate: {_FILE}:{_LINE}:"),
        (Style.REMARK, rf"^Loc: \[{_FILE}\({_LINE}\)\]"),
        (Style.REMARK, rf"^{_FILE}\|{_LINE}\|"),
        (Style.REMARK, rf"\bin {_FILE}:{_LINE}$"),
        (Style.REMARK, rf"""^in "{_FILE}", line {_LINE}"""),
        (Style.REMARK, rf"Error Trace:\s{{0,20}}{_FILE}:{_LINE}"),
        (Style.REMARK, rf"(?:Failure|Error|FAILURE|ERROR) \('?{_FILE}:{_LINE}(?::\d{{1,6}})?'?\)"),
        (Style.FRAME, rf"^at (?:(?P<frame>[^()]{{0,300}})\()?(?:async )?{_FILE}:{_LINE}"),
        (Style.FRAME, rf"^at .{{0,300}} in {_SPACED}:line {_LINE}"),
        (Style.FRAME, rf"^(?:from |# )?{_FILE}:{_LINE}(?::in [`'].{{0,300}})?$"),
        (Style.FRAME, rf"^{_FILE}:{_LINE}:in [`']"),
        (Style.FRAME, rf"^{_FILE}:{_LINE}:\d{{1,6}}$"),
        (Style.FRAME, rf"^{_FILE}:{_LINE} \+0x"),
        (Style.FRAME, rf"^#\d{{1,4}} {{1,4}}(?:0x\w{{1,20}} in .{{1,300}} )?{_FILE}[:(]{_LINE}"),
        (Style.FRAME, rf"^{_FILE} {_LINE}:\d{{1,6}} "),
        (Style.FRAME, rf"^\(\w[\w ]{{0,60}} [\d.]{{1,20}}\) {_FILE}:{_LINE}: "),
        (Style.MENTION, rf"\({_FILE}:{_LINE}(?::\d{{1,6}})?\)$"),
        (Style.MENTION, rf"(?:^|[\s(\[]){_FILE}:{_LINE}(?::\d{{1,6}})?(?=[\s,;)\].]|$)"),
    )
)


# Most lines name no file at all, and need not be read in thirty ways.
_HINT = re.compile(
    rf"\.(?:{_EXTENSIONS})\b|File [\"~/A-Z]|(?:Rake|Gem|Make|Docker|Jenkins|Pod)file"
)


def places_in(line: str) -> Iterator[Place]:
    """The first that the line names, if any."""
    line = line[:LONGEST_LINE]
    if not _HINT.search(line):
        return
    for style, pattern in _PATTERNS:
        if found := pattern.search(line):
            file = found["file"].removeprefix("file://")
            parts = found.groupdict()
            yield Place(file, int(found["line"]), style, parts.get("frame") or "")
            return
