"""A table of a TOML file that knows its line numbers, so that errors can name them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn, TypeVar

from duecourse.domain.errors import PolicyError

T = TypeVar("T")


@dataclass(kw_only=True)
class TomlTable:
    """A table. `lines` is the whole file; the table starts at occurrence `nth` of `header`."""

    values: Mapping[str, Any]
    file: str
    lines: Sequence[str]
    header: str = ""
    nth: int = 0
    label: str = ""
    _read_keys: set[str] = field(default_factory=set)

    def read(self, key: str, parse: Callable[[Any], T], default: T) -> T:
        self._read_keys.add(key)
        if key not in self.values:
            return default
        return self._parse_value(key, parse)

    def read_list(self, key: str, parse: Callable[[Any], T]) -> tuple[T, ...]:
        """Read a single value or a non-empty list. Return () if the key is missing."""

        def parse_all(value: Any) -> tuple[T, ...]:
            if value == []:
                raise ValueError("must not be an empty list")
            return tuple(map(parse, value if isinstance(value, list) else [value]))

        return self.require(key, parse_all) if key in self.values else ()

    def require(self, key: str, parse: Callable[[Any], T]) -> T:
        if key not in self.values:
            self.fail(f"{key} is missing")
        self._read_keys.add(key)
        return self._parse_value(key, parse)

    def reject_unknown_keys(self) -> None:
        for key in self.values:
            if key not in self._read_keys:
                self.fail("is not a known key", key)

    def fail(self, message: str, key: str | None = None) -> NoReturn:
        parts = [part for part in (self.label, key, message) if part]
        raise PolicyError(self.file, self._line_number(key), ": ".join(parts))

    def subtable(self, label: str, values: Any, *, header: str, nth: int = 0) -> TomlTable:
        if not isinstance(values, Mapping):
            self.fail("must be a table", label)
        return TomlTable(
            values=values, file=self.file, lines=self.lines, header=header, nth=nth, label=label
        )

    def _parse_value(self, key: str, parse: Callable[[Any], T]) -> T:
        try:
            return parse(self.values[key])
        except ValueError as error:
            self.fail(str(error), key)

    def _line_number(self, key: str | None) -> int:
        """Return the line of `key`, or the table's first line if the key is not found."""
        start = self._header_index()
        names_key = re.compile(rf"""\s*["']?{re.escape(key or "")}["']?\s*[=.]""")
        for index in range(start, len(self.lines)) if key else ():
            if names_key.match(self.lines[index]):
                return index + 1
            if index > start and self.header and self.lines[index].startswith("["):
                break
        return start + 1

    def _header_index(self) -> int:
        found = [n for n, line in enumerate(self.lines) if line.strip().startswith(self.header)]
        return found[self.nth] if self.header and self.nth < len(found) else 0


def parse_text(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError("must be a non-empty string")
    return value


def parse_bool(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("must be true or false")
    return value


def parse_positive_int(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError("must be a whole number of at least 1")
    return value


def parse_natural(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError("must be a whole number of at least 0")
    return value


def parse_fraction(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise ValueError("must be a number from 0 to 1")
    return float(value)


def enum_parser(enum_type: type[T]) -> Callable[[Any], T]:
    """Return a parser for the values of `enum_type`."""

    def parse(value: Any) -> T:
        try:
            return enum_type(value)  # type: ignore[call-arg]
        except ValueError:
            choices = ", ".join(str(member) for member in enum_type)  # type: ignore[attr-defined]
            raise ValueError(f"is {value!r}, but must be one of: {choices}") from None

    return parse
