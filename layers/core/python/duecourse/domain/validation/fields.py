"""Reads the fields of a request and collects all errors, so that one response lists them."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from duecourse.domain.errors import FieldError, InvalidFieldsError
from duecourse.domain.validation.json_values import measure

T = TypeVar("T")
Schema = Mapping[str, Any]  # JSON Schema
DEPTH_LIMIT = 50


@dataclass(frozen=True)
class Reader(Generic[T]):
    """Reads one value. `schema` is the JSON Schema of what it accepts; `parse` may be stricter."""

    parse: Callable[[Any], T]
    schema: Schema

    def __call__(self, value: Any) -> T:
        return self.parse(value)


class FieldErrors:
    """Collects the errors of a request. Of each field, only the first error counts."""

    def __init__(self) -> None:
        self._messages: dict[str, str] = {}

    def __bool__(self) -> bool:
        return bool(self._messages)

    def __contains__(self, name: str) -> bool:
        return name in self._messages

    def add(self, name: str, message: str) -> None:
        self._messages.setdefault(name, message)

    def check(self, name: str, parse: Callable[[Any], T], value: Any, default: T) -> T:
        """Return the parsed value, or `default` if it is None or invalid.

        The message of a ValueError is added to the errors.
        """
        try:
            return default if value is None else parse(value)
        except ValueError as error:
            self.add(name, str(error))
            return default

    def raise_if_any(self) -> None:
        """Raise InvalidFieldsError naming every wrong field."""
        if self._messages:
            raise InvalidFieldsError([FieldError(*error) for error in self._messages.items()])


class Fields:
    def __init__(self, raw: Mapping[str, Any], *, allowed: Collection[str]) -> None:
        self._raw = raw
        self.errors = FieldErrors()
        for name in raw:
            if name not in allowed:
                self.errors.add(_printable_name(name), "unknown field")

    def has(self, name: str) -> bool:
        return self._raw.get(name) is not None

    def has_key(self, name: str) -> bool:
        """Return whether the field is present, even as null."""
        return name in self._raw

    def add_error(self, name: str, message: str) -> None:
        self.errors.add(name, message)

    def read(self, name: str, parse: Callable[[Any], T], default: T) -> T:
        """Return the parsed value, or `default` if the field is missing, null or invalid."""
        return self.errors.check(name, parse, self._raw.get(name), default)

    def raise_if_invalid(self) -> None:
        self.errors.raise_if_any()


def text_field(limit: int) -> Reader[str]:
    def parse(value: Any) -> str:
        if not isinstance(value, str) or not value.strip():
            raise ValueError("must be a non-empty string")
        if len(value) > limit:
            raise ValueError(f"must be at most {limit:,} characters, not {len(value):,}")
        if not _is_utf8(value):
            raise ValueError("must be valid Unicode, without lone surrogates")
        return value

    return Reader(parse, {"type": "string", "pattern": r"\S", "maxLength": limit})


def choice_field(choices: Collection[str]) -> Reader[str]:
    def parse(value: Any) -> str:
        if not isinstance(value, str) or value not in choices:
            raise ValueError(
                f"must be one of: {', '.join(sorted(choices)) or 'none is configured'}"
            )
        return value

    return Reader(parse, {"type": "string", "enum": sorted(choices)})


def integer_field(low: int, high: int) -> Reader[int]:
    def parse(value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise ValueError(f"must be a whole number from {low} to {high}")
        return value

    return Reader(parse, {"type": "integer", "minimum": low, "maximum": high})


def object_field(limit: int) -> Reader[dict[str, Any]]:
    def parse(value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise ValueError("must be a JSON object")
        if measure(value)[0] > DEPTH_LIMIT:
            raise ValueError(f"must not be nested deeper than {DEPTH_LIMIT} levels")
        compact = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        size = len(compact.encode("utf-8", "surrogatepass"))
        if size > limit:
            raise ValueError(f"must be at most {limit // 1024} KiB, not {size / 1024:.1f} KiB")
        if not _is_utf8(compact):
            raise ValueError("must be valid Unicode, without lone surrogates")
        return value

    text = f"At most {limit // 1024} KiB as JSON, nested at most {DEPTH_LIMIT} levels deep."
    return Reader(parse, {"type": "object", "description": text})


def object_schema(fields: Mapping[str, Schema], *, required: Collection[str]) -> dict[str, Any]:
    """Return the JSON Schema of an object with these fields and no others."""
    return {
        "type": "object",
        "properties": dict(fields),
        "required": sorted(required),
        "additionalProperties": False,
    }


def nullable(schema: Schema) -> dict[str, Any]:
    return {"anyOf": [schema, {"type": "null"}]}


def _is_utf8(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _printable_name(name: str) -> str:
    return name[:100].encode("utf-8", "replace").decode()
