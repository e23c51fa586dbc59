"""The words of a time as somebody typed them, taken one after the other."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import Concatenate, ParamSpec, TypeVar

# No time is longer. What follows is the person's own text, and is not looked at.
_MAX_TOKENS = 40
_TOKEN_PATTERN = re.compile(r"[0-9]+|[^\W\d_]+(?:['’][^\W\d_]+)*|\S")
_MAX_TOKEN_LENGTH = 12

T = TypeVar("T")
P = ParamSpec("P")


class ClarificationNeededError(Exception):
    """The time cannot be told from the words alone; the message is what to ask."""


@dataclass(frozen=True, slots=True)
class Token:
    """A word, a number or a sign, in small letters."""

    text: str
    start: int
    end: int
    is_adjacent: bool  # nothing stands between it and what is before it

    @property
    def is_number(self) -> bool:
        return self.text.isascii() and self.text.isdigit()

    @property
    def is_punctuation(self) -> bool:
        return not any(letter.isalnum() for letter in self.text)


class TokenStream:
    """A place in a text, which moves on as words are taken."""

    def __init__(self, text: str) -> None:
        ends = 0
        self._tokens: list[Token] = []
        for match in islice(_TOKEN_PATTERN.finditer(text), _MAX_TOKENS):
            small = match[0][: _MAX_TOKEN_LENGTH + 1].lower().replace("’", "'")
            self._tokens.append(Token(small, *match.span(), is_adjacent=match.start() == ends > 0))
            ends = match.end()
        self._end_token = Token("", len(text), len(text), is_adjacent=False)
        self.position = 0

    @property
    def remaining(self) -> list[Token]:
        return self._tokens[self.position :]

    @property
    def is_exhausted(self) -> bool:
        """Nothing but signs is left."""
        return all(word.is_punctuation for word in self.remaining)

    @property
    def is_truncated(self) -> bool:
        """There may be more words, which are not looked at."""
        return len(self._tokens) == _MAX_TOKENS

    @property
    def end_offset(self) -> int:
        """Where in the text the last word taken ends."""
        return self._tokens[self.position - 1].end if self.position else 0

    def peek(self, ahead: int = 0) -> Token:
        at = self.position + ahead
        return self._tokens[at] if 0 <= at < len(self._tokens) else self._end_token

    def next(self) -> Token:
        word = self.peek()
        self.position += 1
        return word

    def take(self, *options: str) -> str:
        """The next word if it is one of these, else nothing."""
        if self.peek().text in options:
            return self.next().text
        return ""

    def take_adjacent(self, *options: str) -> str:
        return self.take(*options) if self.peek().is_adjacent else ""

    def take_phrase(self, phrase: str) -> bool:
        """All words of the phrase in turn, or none of them."""
        wanted = phrase.split()
        if [self.peek(ahead).text for ahead in range(len(wanted))] != wanted:
            return False
        self.position += len(wanted)
        return True

    def take_number(self, max_digits: int = 2) -> Token | None:
        word = self.peek()
        return self.next() if word.is_number and len(word.text) <= max_digits else None

    def try_take(
        self,
        take: Callable[Concatenate[TokenStream, P], T | None],
        *args: P.args,
        **named: P.kwargs,
    ) -> T | None:
        """What is read here; where nothing is, the place stays as it was."""
        start = self.position
        found = take(self, *args, **named)
        if found is None:
            self.position = start
        return found

    def can_take(
        self,
        ahead: int,
        take: Callable[Concatenate[TokenStream, P], object | None],
        *args: P.args,
        **named: P.kwargs,
    ) -> bool:
        """Whether this can be read so many words ahead. The place stays as it is."""
        start = self.position
        self.position += ahead
        try:
            return take(self, *args, **named) is not None
        finally:
            self.position = start
