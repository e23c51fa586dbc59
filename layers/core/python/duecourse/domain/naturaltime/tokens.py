"""The words of a time as somebody typed them, taken one after the other."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import Concatenate, ParamSpec, TypeVar

# No time is longer. What follows is the person's own text, and is not looked at.
_MOST_WORDS = 40
_WORD = re.compile(r"[0-9]+|[^\W\d_]+(?:['’][^\W\d_]+)*|\S")
_LONGEST_WORD = 12

T = TypeVar("T")
P = ParamSpec("P")


class AskBackError(Exception):
    """The time cannot be told from the words alone; the message is what to ask."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word, a number or a sign, in small letters."""

    text: str
    start: int
    end: int
    is_glued: bool  # nothing stands between it and what is before it

    @property
    def is_number(self) -> bool:
        return self.text.isascii() and self.text.isdigit()

    @property
    def is_sign(self) -> bool:
        return not any(letter.isalnum() for letter in self.text)


class Words:
    """A place in a text, which moves on as words are taken."""

    def __init__(self, text: str) -> None:
        ends = 0
        self._words: list[Word] = []
        for match in islice(_WORD.finditer(text), _MOST_WORDS):
            small = match[0][: _LONGEST_WORD + 1].lower().replace("’", "'")
            self._words.append(Word(small, *match.span(), is_glued=match.start() == ends > 0))
            ends = match.end()
        self._none = Word("", len(text), len(text), is_glued=False)
        self.at = 0

    @property
    def left(self) -> list[Word]:
        return self._words[self.at :]

    @property
    def is_done(self) -> bool:
        """Nothing but signs is left."""
        return all(word.is_sign for word in self.left)

    @property
    def is_cut(self) -> bool:
        """There may be more words, which are not looked at."""
        return len(self._words) == _MOST_WORDS

    @property
    def end(self) -> int:
        """Where in the text the last word taken ends."""
        return self._words[self.at - 1].end if self.at else 0

    def peek(self, ahead: int = 0) -> Word:
        at = self.at + ahead
        return self._words[at] if 0 <= at < len(self._words) else self._none

    def next(self) -> Word:
        word = self.peek()
        self.at += 1
        return word

    def take(self, *options: str) -> str:
        """The next word if it is one of these, else nothing."""
        if self.peek().text in options:
            return self.next().text
        return ""

    def take_glued(self, *options: str) -> str:
        return self.take(*options) if self.peek().is_glued else ""

    def take_all(self, phrase: str) -> bool:
        """All words of the phrase in turn, or none of them."""
        wanted = phrase.split()
        if [self.peek(ahead).text for ahead in range(len(wanted))] != wanted:
            return False
        self.at += len(wanted)
        return True

    def number(self, most_digits: int = 2) -> Word | None:
        word = self.peek()
        return self.next() if word.is_number and len(word.text) <= most_digits else None

    def attempt(
        self, read: Callable[Concatenate[Words, P], T | None], *args: P.args, **named: P.kwargs
    ) -> T | None:
        """What is read here; where nothing is, the place stays as it was."""
        start = self.at
        found = read(self, *args, **named)
        if found is None:
            self.at = start
        return found

    def comes(
        self,
        ahead: int,
        read: Callable[Concatenate[Words, P], object | None],
        *args: P.args,
        **named: P.kwargs,
    ) -> bool:
        """Whether this can be read so many words ahead. The place stays as it is."""
        start = self.at
        self.at += ahead
        try:
            return read(self, *args, **named) is not None
        finally:
            self.at = start
