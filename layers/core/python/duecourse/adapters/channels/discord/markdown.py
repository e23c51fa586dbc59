"""Text as Discord shows it literally: no markup, no mention, and links only as they read."""

from __future__ import annotations

import re
from collections.abc import Iterator

# Only what Discord surely takes for one: between angle brackets nothing in it is markup.
_HOST = r"[A-Za-z0-9](?:[A-Za-z0-9.-]{0,250}[A-Za-z0-9])?(?::\d{1,5})?"
_PLAIN = r"[\w.~%/?#=&+,;:@!$'-]"
_LINK = re.compile(
    rf"https?://{_HOST}(?:[/?#](?:(?:{_PLAIN}|\({_PLAIN}*\))*(?:[\w/=&+@$-]|\({_PLAIN}*\)))?)?"
    r"(?=[.,;:!?'\")>]*(?:[\s<]|$))",  # these end the sentence, not the link
    re.ASCII,
)
_ANYWHERE = re.compile(r"[\\*_~|`<>\[\]()#@]")
# A list, or a line of small print.
_AT_THE_START = re.compile(r"^([ \t]*)([-+])|^([ \t]*\d{1,10})(\.)", re.MULTILINE)


def escaped(text: str) -> str:
    return "".join(_parts(text))


def _parts(text: str) -> Iterator[str]:
    at = 0
    for link in _LINK.finditer(text):
        yield _escaped(text[at : link.start()], is_start=at == 0)
        yield f"<{link[0]}>"
        at = link.end()
    yield _escaped(text[at:], is_start=at == 0)


def _escaped(text: str, *, is_start: bool) -> str:
    text = _ANYWHERE.sub(r"\\\g<0>", text)
    if is_start:
        return _AT_THE_START.sub(_escaped_start, text)
    # What follows a link is at no line's start.
    first, line_break, rest = text.partition("\n")
    return first + line_break + _AT_THE_START.sub(_escaped_start, rest)


def _escaped_start(found: re.Match[str]) -> str:
    before, mark, number, dot = found.groups()
    return f"{before}\\{mark}" if mark else f"{number}\\{dot}"
