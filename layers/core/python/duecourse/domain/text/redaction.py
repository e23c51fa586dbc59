"""Redacts secrets in text, found by their format, by the name before them or by their position."""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from functools import cache

from duecourse.domain.text.command_options import COMMAND_PATTERNS, COMMAND_REST, OPTION_PATTERNS
from duecourse.domain.text.secret_names import NAMED_PATTERNS
from duecourse.domain.text.token_formats import TOKEN_FORMATS

MAX_REDACTED_LENGTH = 40_000  # searching more text takes too long
SEAM_MARGIN = 4_000  # longer than nearly every cookie or URL password
TRUNCATION_MARK = " […] "
_WORD_BOUNDARY = re.compile(r"[\s\"',;&]")
# Masking keeps the length of the text, so that all offsets stay valid.
_MASK_CHARACTER = "\0"
REDACTED = "[redacted]"
_MASKED_SPAN = re.compile(f"{_MASK_CHARACTER}+")

_PRIVATE_KEY_END = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_PRIVATE_KEY_CHARACTERS = string.ascii_letters + string.digits + "+/=\\" + string.whitespace


def redact(text: str, limit: int) -> str:
    """Return `text` without secrets, truncated to `limit`.

    Of a text longer than `MAX_REDACTED_LENGTH`, only both ends are searched and pieces.
    """
    if len(text) <= MAX_REDACTED_LENGTH:
        return truncate_middle(redact_whole(text), limit)
    half = MAX_REDACTED_LENGTH // 2
    head, tail = _mask(text[:half]), _mask(text[-half:])
    # Drop the text next to the cut: half of a secret there would not be recognized.
    whole = _WORD_BOUNDARY.search(tail, SEAM_MARGIN)
    return truncate_middle(
        _replace_masked(head[:-SEAM_MARGIN])
        + TRUNCATION_MARK
        + (_replace_masked(tail[whole.end() :]) if whole else ""),
        limit,
    )


def redact_whole(text: str) -> str:
    """Return `text` without secrets, however long it is. Use it for text of bounded size."""
    return _replace_masked(_mask(text))


def truncate_middle(text: str, limit: int) -> str:
    """Keep the beginning and the end of `text`, where errors are most informative."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return text[:half] + TRUNCATION_MARK + text[-(limit - half - len(TRUNCATION_MARK)) :]


def _mask(text: str) -> str:
    """Replace each secret with mask characters; the length stays the same.

    Lone surrogates become question marks, so that the text can be stored.
    """
    text = text.encode("utf-8", "replace").decode().replace(_MASK_CHARACTER, "?")
    pieces, at = [], 0
    for start, end in sorted(_find_secrets(text)):
        if end > at:
            pieces += [text[at:start], _MASK_CHARACTER * (end - max(start, at))]
            at = end
    return "".join(pieces) + text[at:]


def _find_secrets(text: str) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of each secret. Spans of different patterns may overlap."""
    for marker, token in TOKEN_FORMATS:
        if marker in text:
            yield from map(_secret_span, _compile(token).finditer(text))
    # Searching lower-case text is several times faster than ignoring case. `İ` would become two
    # characters and shift the offsets.
    small = text.replace("İ", "I").lower()
    for words, named in (*NAMED_PATTERNS, *OPTION_PATTERNS):
        if any(word in small for word in words):
            yield from map(_secret_span, _compile(named).finditer(small))
    for words, command, secret in COMMAND_PATTERNS:
        if any(word in small for word in words):
            yield from _find_command_secrets(text, small, command, secret)
    yield from _find_truncated_keys(text)


def _find_command_secrets(
    text: str, small: str, command: str, secret: str
) -> Iterator[tuple[int, int]]:
    """Yield the secrets of each command in `text`; `small` is the same text in lower case."""
    end = 0
    for name in _compile(command).finditer(small):
        if name.end() < end:  # still the arguments of the command before
            continue
        rest = _compile(COMMAND_REST).match(text, name.end())
        end = rest.end() if rest else name.end()
        yield from map(_secret_span, _compile(secret).finditer(text, name.end(), end))


@cache
def _compile(pattern: str) -> re.Pattern[str]:
    """Compile on first use, because compiling all patterns would slow down a cold start."""
    return re.compile(pattern)


def _secret_span(match: re.Match[str]) -> tuple[int, int]:
    start = match.end(1) if match.re.groups else match.start()
    # A trailing dot or bracket belongs to the sentence.
    return start, start + len(match.string[start : match.end()].rstrip(".)"))


def _find_truncated_keys(text: str) -> Iterator[tuple[int, int]]:
    """Yield spans of private keys whose beginning was cut off, as far back as key data goes."""
    at = 0
    for end in _PRIVATE_KEY_END.finditer(text):
        yield at + len(text[at : end.start()].rstrip(_PRIVATE_KEY_CHARACTERS)), end.end()
        at = end.end()


def _replace_masked(text: str) -> str:
    return _MASKED_SPAN.sub(REDACTED, text)
