"""Split DynamoDB expressions into tokens."""

from __future__ import annotations

import re

from local.testing.lean_aws.errors import validation_error

_TOKEN = re.compile(r"\s*(?:([#:]?\w+)|(<>|<=|>=|[=<>(),.\[\]+-]))")


class Tokens:
    """The tokens of an expression, with a position. `used` are the placeholders it names."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = _split(text)
        self._position = 0
        self.used = frozenset(one for one in self._tokens if one[0] in "#:")

    def peek(self) -> str:
        return self._tokens[self._position] if self._position < len(self._tokens) else ""

    def peek_keyword(self) -> str:
        return self.peek().upper()

    def take(self, expected: str | None = None) -> str:
        token = self.peek()
        if not token or (expected is not None and token.upper() != expected.upper()):
            raise self.syntax_error()
        self._position += 1
        return token

    def skip(self, token: str) -> bool:
        """Take the token if it is the next one, and return whether it was."""
        if self.peek_keyword() != token:
            return False
        self._position += 1
        return True

    def is_call(self) -> bool:
        """Return whether the next token is the name of a function, with its parenthesis."""
        return self._tokens[self._position + 1 : self._position + 2] == ["("]

    def check_end(self) -> None:
        if self.peek():
            raise self.syntax_error()

    def syntax_error(self) -> Exception:
        return validation_error(
            f"Invalid expression: Syntax error; token: {self.peek() or '<EOF>'}, in: {self._text}"
        )


def _split(text: str) -> list[str]:
    tokens, position, end = [], 0, len(text.rstrip())
    while position < end:
        found = _TOKEN.match(text, position)
        if found is None:
            raise validation_error(f"Invalid expression: Syntax error at: {text[position:]}")
        tokens.append(found[1] or found[2])
        position = found.end()
    if not tokens:
        raise validation_error("Invalid expression: The expression can not be empty")
    return tokens
