"""Phrases: the simple patterns by which rules match error texts. They are not regular expressions.

Words match in any case and with any whitespace between them. `#` matches a number and `*` up to 60
characters of the same line. The last of several words matches in singular and plural. Matching
takes time linear in the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache

WILDCARD = "*"
MAX_WILDCARDS = 2
MAX_WILDCARD_WIDTH = 60
# Scripts without spaces between words are indexed by character.
_WORD_PATTERN = re.compile(r"[a-z0-9_\u00c0-\u04ff]+|[^\x00-\u04ff]")
_WHOLE_WORD_PATTERN = re.compile(
    r"(?<![#*a-z0-9_\u00c0-\u04ff])[a-z0-9_\u00c0-\u04ff]++(?![#*])|[^\x00-\u04ff]"
)
_DIGITS = re.compile("#+")
_MIN_PLURAL_LENGTH = 5
_PLURAL = re.compile(r" [a-z]{4,}(?<![siu])s$")
_QUOTES = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "`": "'", "\xa0": " "})


class SearchText:
    """A text prepared for matching phrases."""

    def __init__(self, text: str) -> None:
        lines = normalize_text(text).split("\n")
        self.lines = "\n".join(" ".join(line.split()) for line in lines)
        # A line may wrap within a phrase, so the spaces of a phrase also match line ends.
        self.flat = self.lines.replace("\n", " ")
        words = frozenset(_WORD_PATTERN.findall(self.flat))
        self.words = words | {word[:-1] for word in words if _can_be_plural(word)}


@dataclass(frozen=True, slots=True)
class Segment:
    """The part of a phrase between two wildcards."""

    literal: str
    pattern: re.Pattern[str] | None
    is_word_start: bool
    is_word_end: bool
    can_be_plural: bool
    is_single_word: bool

    def find_spans(self, flat: str) -> Iterator[tuple[int, int]]:
        for start, end in self._raw_spans(flat):
            if self.is_word_start and _is_joined_before(flat, start):
                continue
            if self.can_be_plural and flat[end : end + 1] == "s":
                end += 1
            if self.is_word_end and _is_joined_after(flat, end):
                continue
            if self.is_single_word and _is_quoted(flat, start, end):
                continue
            yield start, end

    def _raw_spans(self, flat: str) -> Iterator[tuple[int, int]]:
        if self.pattern is not None:
            yield from (match.span() for match in self.pattern.finditer(flat))
            return
        start = flat.find(self.literal)
        while start >= 0:
            yield start, start + len(self.literal)
            start = flat.find(self.literal, start + 1)


@dataclass(frozen=True, slots=True)
class Phrase:
    """A parsed phrase. A text can only match if it contains all of `words`."""

    text: str
    words: frozenset[str] = field(repr=False)

    @classmethod
    def parse(cls, text: str) -> Phrase:
        """Parse a phrase. Raises ValueError saying what is wrong with it."""
        plain = _to_singular(text)
        if not _WORD_PATTERN.search(plain):
            raise ValueError("must hold a word")
        if plain.count(WILDCARD) > MAX_WILDCARDS:
            raise ValueError(f"must hold at most {MAX_WILDCARDS} wildcards (*)")
        return cls(text, _whole_words(plain))

    def is_in(self, text: SearchText) -> bool:
        if not self.words <= text.words:
            return False
        first, *others = _segments(self.text)
        if not others:
            return any(True for _ in first.find_spans(text.flat))
        ends = [end for _, end in first.find_spans(text.flat)]
        for piece in others:
            ends = _reachable_ends(ends, piece.find_spans(text.flat), text.lines) if ends else []
        return bool(ends)


def normalize_text(text: str) -> str:
    return text.translate(_QUOTES).lower()


def _to_singular(text: str) -> str:
    """Normalize `text` and drop a plural `s` at its end, so that it matches both numbers."""
    plain = " ".join(normalize_text(text).split())
    return plain[:-1] if _PLURAL.search(plain) else plain


@cache
def _segments(text: str) -> tuple[Segment, ...]:
    """Return the segments of a phrase. Built on first use, because few phrases are needed."""
    plain = _to_singular(text)
    return tuple(_build_segment(part, plain) for part in plain.split(WILDCARD) if part.strip())


def _build_segment(part: str, phrase: str) -> Segment:
    literal = part.strip()
    # A wildcard next to a letter may match the rest of the word.
    begins = phrase.startswith(part) or part.startswith(" ")
    ends = phrase.endswith(part) or part.endswith(" ")
    pattern = None
    if "#" in literal:
        pattern = re.compile("[0-9]{1,20}".join(map(re.escape, _DIGITS.split(literal))))
    return Segment(
        literal,
        pattern,
        is_word_start=begins and _is_word_or_number(literal[0]),
        is_word_end=ends and _is_word_or_number(literal[-1]),
        can_be_plural=ends and " " in phrase and "a" <= literal[-1] <= "z",
        is_single_word=all(map(_is_word_or_number, phrase)),
    )


def _can_be_plural(word: str) -> bool:
    return len(word) >= _MIN_PLURAL_LENGTH and word[-1] == "s"


def _whole_words(phrase: str) -> frozenset[str]:
    """Return the words of a phrase, except those next to a `#` or `*`, which may be partial."""
    return frozenset(_WHOLE_WORD_PATTERN.findall(phrase))


def _reachable_ends(ends: Sequence[int], spots: Iterator[tuple[int, int]], lines: str) -> list[int]:
    """Return the ends of those `spots` that a wildcard can reach from one of `ends`.

    Both arguments must be in order.
    """
    reached, at, nearest = [], 0, -1
    for start, end in spots:
        while at < len(ends) and ends[at] <= start:
            nearest = ends[at]
            at += 1
        if (
            nearest >= 0
            and start - nearest <= MAX_WILDCARD_WIDTH
            and "\n" not in lines[nearest:start]
        ):
            reached.append(end)
    return reached


def _is_word_or_number(character: str) -> bool:
    return character == "#" or _is_word(character)


def _is_quoted(flat: str, start: int, end: int) -> bool:
    """Return whether the word is quoted, and so only a name: `'timeout'`."""
    return flat[start - 1 : start] in ("'", '"') and flat[end : end + 1] == flat[start - 1]


def _is_joined_before(flat: str, start: int) -> bool:
    """Return whether the match is the end of a longer word.

    `timeout-429` and `--timeout` match neither of their words.
    """
    return start > 0 and (flat[start - 1] in "-/\\$@" or _is_word(flat[start - 1]))


def _is_joined_after(flat: str, end: int) -> bool:
    after = flat[end : end + 1]
    if not after or _is_word(after):
        return bool(after)
    beyond = flat[end + 1 : end + 2]
    if after == ".":  # timeout.py, but not the end of a sentence or version 2.0
        return beyond.isalpha() and flat[end - 1].isalpha()
    return after in "-/\\" and bool(beyond) and _is_word(beyond)


def _is_word(character: str) -> bool:
    return character == "_" or (character < "\u0500" and character.isalnum())
