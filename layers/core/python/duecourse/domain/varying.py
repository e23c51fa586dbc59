"""Takes out of a line of an error what differs each time it is told: numbers, names, times, ids."""

from __future__ import annotations

import re
from functools import cache
from itertools import islice

from duecourse.domain.phrase import normalised

# Linear time: each repeat is bounded, or cannot begin in the middle of what it repeats.
_UNITS = (
    r"(?:ns|us|µs|ms|millis|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?"
    r"|b|bytes?|[kmgt]i?b|%)"
)
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}"
_WEEKDAY = r"(?:mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6}"
_TELLING_KEY = (
    r"(?:message|msg|error|errors|err|detail|details|title|description|reason|cause|fault|failure"
    r"|exception|problem|stderr|type|code|status|name|kind"
    r"|err(?:or)?_?(?:code|type|msg|message|description|reason))"
)
_RAISED = (
    r"(?:error|exception|exit|expired|failure|fault|interrupt|denied|refused|timeout|exceeded)"
)
_QUOTED = r"""\"[^"]{0,400}\"|(?<!\w)'[^']{0,400}'(?!\w)"""
_FIELD = r"([{,\[]\s{0,4})"
_OWNERS = r"(?:request|trace|span|session|correlation|execution|invocation|job|run|task|process)"
_VARYING = [
    (r"\[redacted\]", "redacted"),  # no bracket that a URL would end at
    # JSON: what an error says of itself stays, without its quotes; so do the names of fields.
    (rf"""{_FIELD}(["']){_TELLING_KEY}\2\s{{0,4}}:\s{{0,4}}"([^"]{{0,400}})\"""", r"\1\3"),
    (rf"""{_FIELD}(["']){_TELLING_KEY}\2\s{{0,4}}:\s{{0,4}}'([^']{{0,400}})'""", r"\1\3"),
    (rf"""{_FIELD}(["'])([\w.-]{{1,40}})\2(?=\s{{0,4}}:)""", r"\1\3"),
    (r"\b[a-z][a-z0-9+.-]{1,20}://[^\s\"'<>)\]}|]+", "<url>"),
    # What an exception was given stays, without its quotes, unless it is but a name.
    (rf"""({_RAISED}\()"([^"\s]{{0,200}}\s[^"]{{0,400}})"(?=,?\))""", r"\1\2"),
    (rf"""({_RAISED}\()'([^'\s]{{0,200}}\s[^']{{0,400}})'(?=,?\))""", r"\1\2"),
    (_QUOTED, "<text>"),
    (r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}", "<address>"),
    (
        r"(?<![\w.-])(?:[\w-]{1,63}\.){1,8}(?:com|net|org|io|dev|ai|app|co|eu|cloud|internal"
        r"|local|test|example)(?::\d{1,5})?(?![\w.-])",
        "<address>",
    ),
    (r"(?<![\w:])(?:[0-9a-f]{0,4}:){3,7}[0-9a-f]{0,4}(?![\w:])", "<address>"),
    (r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", "<id>"),
    # Of a path, what it leads to.
    (r"\b[a-z]:(?=[/\\])", ""),
    (r"(?<![^\s:;,()\[\]{}<>=|])[^\s:;,()\[\]{}<>=|]*[/\\](?=[^\s:;,()\[\]{}<>=|/\\])", ""),
    (rf"\b({_OWNERS}[ _-]?id)\W{{1,4}}[\w.:/+=-]{{1,200}}", r"\1 <id>"),
    (rf"(?:\b{_WEEKDAY},? )?(?:\b\d{{1,2}}[ -])?\b{_MONTH}[ -]\d{{1,4}}(?:,? \d{{4}})?\b", "#"),
    (r"\b0x[0-9a-f]{1,64}\b", "<id>"),
    (r"\b(?=[a-f]{0,64}\d)(?=\d{0,64}[a-f])[0-9a-f]{8,}\b", "<id>"),
    (rf"(?<![\w.])(?:\d[\d.,]{{0,30}}\s?{_UNITS}\s?)+(?!\w)", "# "),
    (r"\d+(?:[.,_:/-]\d+)*", "#"),
    # A number in the midst of letters, or letters after one: no word, but an id.
    (r"(?<![\w#-])(?=[\w#-]{0,200}?(?:[a-z_]#[a-z_-]*[a-z#]|#[a-z]))[\w#-]+", "<id>"),
    (r"#(?:[\s.,:;/_+x-]{1,3}#)+z?", "#"),
    (r"(?<!\w)[+-](?=#)", ""),
    (r"(?<=# )([a-z]{3,40})s\b", r"\1"),  # 1 test, 2 tests
]


# What says no more than that there is an error, or stands for what was taken out.
_SAYS_NOTHING = re.compile(
    r"<\w{2,7}>|\b(?:an?|the|err|errors?|fail(?:ed|ure)|fatal|exception|redacted)\b|[\W\d_]"
)
_AT_THE_END = re.compile(r"[\s.,!)]{0,4}$")


def without_what_varies(line: str) -> str:
    text = " ".join(normalised(line).split())
    stripped = _stripped(_with_last_word(text))
    # Quoted or not, where nothing else is said it is the error.
    return stripped if _SAYS_NOTHING.sub("", stripped) else _stripped(_unquoted(text))


def _with_last_word(text: str) -> str:
    """`Tool said 'command timed out'`: a quoted sentence that ends the line stays, if it is the
    only one; a name is taken out."""
    quoted = _compiled(_QUOTED).finditer(text)
    sentences = list(islice((found for found in quoted if " " in found.group()), 2))
    if len(sentences) != 1 or not _AT_THE_END.match(text, sentences[0].end()):
        return text
    start, end = sentences[0].span()
    return text[:start] + text[start + 1 : end - 1] + text[end:]


def _unquoted(text: str) -> str:
    return _compiled(_QUOTED).sub(lambda found: found.group()[1:-1], text)


def _stripped(text: str) -> str:
    for pattern, instead in _VARYING:
        text = _compiled(pattern).sub(instead, text)
    return " ".join(text.split())


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """On first use: most functions that load this never see a failure."""
    return re.compile(pattern)
