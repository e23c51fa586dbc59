"""Tokens of a written time, and a stream that a parser takes them from."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import Concatenate, ParamSpec, TypeVar

# No time has more tokens. What follows is content and is not parsed.
_MAX_TOKENS = 40
_TOKEN_PATTERN = re.compile(r"[0-9]+|[^\W\d_]+(?:['’][^\W\d_]+)*|\S")
_MAX_TOKEN_LENGTH = 12

T = TypeVar("T")
P = ParamSpec("P")


class ClarificationNeededError(Exception):
    """The time is unclear. The message is the question to ask the sender."""


@dataclass(frozen=True, slots=True)
class Token:
    """A word, a number or a sign, in lower case."""

    text: str
    start: int
    end: int
    is_adjacent: bool  # no space between it and the token before

    @property
    def is_number(self) -> bool:
        return self.text.isascii() and self.text.isdigit()

    @property
    def is_punctuation(self) -> bool:
        return not any(letter.isalnum() for letter in self.text)


class TokenStream:
    """The tokens of a text with a current position, which moves as tokens are taken."""

    def __init__(self, text: str) -> None:
        ends = 0
        self._tokens: list[Token] = []
        for match in islice(_TOKEN_PATTERN.finditer(text), _MAX_TOKENS):
            text = match[0][: _MAX_TOKEN_LENGTH + 1].lower().replace("’", "'")
            self._tokens.append(Token(text, *match.span(), is_adjacent=match.start() == ends > 0))
            ends = match.end()
        self._end_token = Token("", len(text), len(text), is_adjacent=False)
        self.position = 0

    @property
    def remaining(self) -> list[Token]:
        return self._tokens[self.position :]

    @property
    def is_exhausted(self) -> bool:
        """Whether only punctuation is left."""
        return all(word.is_punctuation for word in self.remaining)

    @property
    def is_truncated(self) -> bool:
        """Whether the text may have more tokens than were read."""
        return len(self._tokens) == _MAX_TOKENS

    @property
    def end_offset(self) -> int:
        """The offset in the text where the last taken token ends."""
        return self._tokens[self.position - 1].end if self.position else 0

    def peek(self, ahead: int = 0) -> Token:
        at = self.position + ahead
        return self._tokens[at] if 0 <= at < len(self._tokens) else self._end_token

    def next(self) -> Token:
        word = self.peek()
        self.position += 1
        return word

    def take(self, *options: str) -> str:
        """Take the next token if it is one of `options` and return its text, else ""."""
        if self.peek().text in options:
            return self.next().text
        return ""

    def take_adjacent(self, *options: str) -> str:
        return self.take(*options) if self.peek().is_adjacent else ""

    def take_phrase(self, phrase: str) -> bool:
        """Take all words of `phrase`, or none of them. Return whether they were taken."""
        words = phrase.split()
        if [self.peek(ahead).text for ahead in range(len(words))] != words:
            return False
        self.position += len(words)
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
        """Return what `take` parses here. If it is None, restore the position."""
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
        """Return whether `take` succeeds `ahead` tokens from here. The position stays."""
        start = self.position
        self.position += ahead
        try:
            return take(self, *args, **named) is not None
        finally:
            self.position = start
