"""A position in a JSON Schema, for error messages and for the limits of depth and size."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NoReturn

MAX_NODES = 1_000
_MAX_NAME_LENGTH = 60

ErrorMessages = Iterator[str]  # lazy, so that callers can stop early
Check = Callable[[Any, str], ErrorMessages]  # called with a value and its path


@dataclass
class NodeCounter:
    count: int = 0


@dataclass(frozen=True)
class SchemaPath:
    """A position in a schema. `siblings` are the keywords at the same level.

    Raises ValueError, with the path in front of the message, for an invalid schema.
    """

    path: str
    depth: int
    siblings: Mapping[str, Any]
    counter: NodeCounter

    def at_keyword(self, name: str, siblings: Mapping[str, Any]) -> SchemaPath:
        return replace(self, path=join_path(self.path, name), siblings=siblings)

    def at_child(self, step: str | int | None = None) -> SchemaPath:
        path = self.path if step is None else join_path(self.path, step)
        return replace(self, path=path, depth=self.depth + 1)

    def fail(self, message: str) -> NoReturn:
        raise ValueError(f"{self.path}: {message}")

    def count_nodes(self, count: int) -> None:
        self.counter.count += count
        if self.counter.count > MAX_NODES:
            self.fail(f"the schema has more than {MAX_NODES:,} parts")

    def require_nonempty_list(self, raw: Any) -> list[Any]:
        if not isinstance(raw, list) or not raw:
            self.fail("must be a non-empty list")
        return raw


Keyword = Callable[[Any, SchemaPath], Check | None]  # parses the value of a keyword


def join_path(path: str, step: str | int) -> str:
    """Append `step` to `path`.

    Names are untrusted: they are cleaned, so that none can look like an error code or sentence.
    """
    if isinstance(step, int):
        return f"{path}[{step}]"
    cleaned = (
        character if character.isalnum() or character in "_-.$@" else "?"
        for character in step[:_MAX_NAME_LENGTH]
    )
    return f"{path}.{''.join(cleaned)}"
