"""The building blocks of the patterns for source locations: a file, a line, the word `error`."""

from __future__ import annotations

EXTENSIONS = (
    "py|pyx|pyi|ipynb|tsx?|jsx?|mjs|cjs|mts|cts|vue|svelte|astro|java|kts?|scala|sc|groovy|gradle"
    "|cljs?|go|rs|c|h|cc|cpp|cxx|hpp|hh|cu|mm?|swift|rb|erb|rake|php|phtml|pl|pm|t|lua|exs?|eex|heex"
    "|erl|hrl|hs|lhs|mli?|fsx?|cs|cshtml|razor|vb|dart|r|R|Rmd|jl|sh|bash|zsh|fish|ps1|psm1|bat|sql"
    "|tf|hcl|tfvars|ya?ml|json|toml|xml|html?|css|scss|less|sass|cmake|txt|mk|proto|graphql|zig|nim"
    "|sol|sv|vhdl?|elm|csproj|fsproj|vcxproj|props|targets|nix|bzl|bazel|conf|cfg|ini|feature|tex"
    "|asm|S|s|bats|cr|ino|exp|phpt|coffee|mdx?|rst|j2|tpl|twig|hbs|ejs|pug|adoc|v|svh|rego|gd|wgsl"
    "|glsl|d|pas|f90|jsonnet|libsonnet|cue|dhall|prisma|build|gn|inc|haml|slim|thrift|avsc|bicep"
)
# Files that have no extension, or one of their own after the name: `Dockerfile.prod`.
NAMED_FILES = (
    r"(?:Rake|Gem|Make|Jenkins|Pod|Vagrant|Brew|Fast|Just|Tilt|Snake|Earth|Proc)file|BUILD|WORKSPACE"
    r"|SConstruct|(?:Docker|Container)file(?:\.[\w-]{1,40})?"
)
# Where a bundler or a development server serves the file: `webpack://app/./src/a.js`.
_ORIGIN = (
    r"(?:file://|ng://|webpack(?:-internal)?://[\w.@-]{0,80}/(?:\([\w-]{1,30}\)/)?"
    r"|https?://(?:localhost|127\.0\.0\.1)(?::\d{1,5})?/)?"
)
FILE = (
    rf"{_ORIGIN}(?P<file>(?:[A-Za-z]:(?=[\\/]))?[^\s:()\[\]\"'<>|,*?`=]{{0,300}}"
    rf"(?:\.(?:{EXTENSIONS})|\b(?:{NAMED_FILES})))"
)
FILE_WITH_SPACES = r"(?:file://)?(?P<file>(?:[A-Za-z]:)?[^:\"*?<>|]{1,300})"
LINE = r"(?P<line>\d{1,7})"
COLUMN = r"(?::\d{1,6})?"
# The word `error` in the languages of compiler messages.
ERROR_WORD = (
    r"(?i:(?:fatal |internal compiler )?error|fehler|schwerer fehler|erreur|errore|erro\b|ошибка"
    r"|фатальная ошибка|错误|致命错误|エラー|致命的エラー|오류|hata|błąd|fout|fel)"
)
