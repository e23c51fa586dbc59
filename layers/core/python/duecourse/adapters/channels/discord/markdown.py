"""Escape text for Discord: no markup, no mentions, and links only as bare URLs."""

from __future__ import annotations

import re
from collections.abc import Iterator

# Matches only what Discord surely parses as a link; inside <> nothing is markup.
_HOST = r"[A-Za-z0-9](?:[A-Za-z0-9.-]{0,250}[A-Za-z0-9])?(?::\d{1,5})?"
_URL_CHARACTER = r"[\w.~%/?#=&+,;:@!$'-]"
_LINK = re.compile(
    rf"https?://{_HOST}(?:[/?#](?:(?:{_URL_CHARACTER}|\({_URL_CHARACTER}*\))*(?:[\w/=&+@$-]|\({_URL_CHARACTER}*\)))?)?"
    r"(?=[.,;:!?'\")>]*(?:[\s<]|$))",  # punctuation that ends the sentence, not the link
    re.ASCII,
)
_MARKUP_CHARACTER = re.compile(r"[\\*_~|`<>\[\]()#@]")
# List items and small print.
_LINE_START_MARKUP = re.compile(r"^([ \t]*)([-+])|^([ \t]*\d{1,10})(\.)", re.MULTILINE)


def escape_markdown(text: str) -> str:
    return "".join(_escape_parts(text))


def _escape_parts(text: str) -> Iterator[str]:
    at = 0
    for link in _LINK.finditer(text):
        yield _escape_segment(text[at : link.start()], is_line_start=at == 0)
        yield f"<{link[0]}>"
        at = link.end()
    yield _escape_segment(text[at:], is_line_start=at == 0)


def _escape_segment(text: str, *, is_line_start: bool) -> str:
    text = _MARKUP_CHARACTER.sub(r"\\\g<0>", text)
    if is_line_start:
        return _LINE_START_MARKUP.sub(_escape_line_start, text)
    # The text after a link does not start a line.
    first, line_break, rest = text.partition("\n")
    return first + line_break + _LINE_START_MARKUP.sub(_escape_line_start, rest)


def _escape_line_start(match: re.Match[str]) -> str:
    before, mark, number, dot = match.groups()
    return f"{before}\\{mark}" if mark else f"{number}\\{dot}"
