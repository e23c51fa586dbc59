"""Typed access to the fields of untrusted JSON."""

from __future__ import annotations

import re
from typing import Any

from duecourse.adapters.http.surrogates import replace_surrogates
from duecourse.domain.errors import FieldError, InvalidFieldsError

TEXT_LIMIT = 8_000
ID_LIMIT = 100
_ID_PATTERN = re.compile(r"[A-Za-z0-9_.-]+")
_MAX_INTEGER = 2**63


class JsonReader:
    """Reads the fields of `value`; a value that is no object counts as an empty one.

    `path` is the position in the document, for error messages.
    """

    def __init__(self, value: Any, path: str = "") -> None:
        self._fields: dict[str, Any] = value if isinstance(value, dict) else {}
        self._path = path

    def has(self, name: str) -> bool:
        return self._fields.get(name) is not None

    def is_true(self, name: str) -> bool:
        return self._fields.get(name) is True

    def child(self, name: str) -> JsonReader:
        return JsonReader(self._fields.get(name), self._path_to(name))

    def children(self, name: str) -> list[JsonReader]:
        """Return readers for the elements of a list, or an empty list if the field holds none."""
        found = self._fields.get(name)
        values = found if isinstance(found, list) else []
        return [JsonReader(value, f"{self._path_to(name)}.{n}") for n, value in enumerate(values)]

    def text(self, name: str) -> str | None:
        """Return the text, truncated to TEXT_LIMIT, or None if the field holds none."""
        value = self._fields.get(name)
        return replace_surrogates(value[:TEXT_LIMIT]) if isinstance(value, str) else None

    def scalar_text(self, name: str) -> str:
        """Return a text or number as text. Raises InvalidFieldsError for other values."""
        value = self._fields.get(name)
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise self.error_for(name, "must be a string or a number")
        return replace_surrogates(str(value)[:TEXT_LIMIT])

    def id(self, name: str) -> str:
        """Return an id. Raises InvalidFieldsError if it is missing or invalid."""
        value = self._fields.get(name)
        if isinstance(value, str) and len(value) <= ID_LIMIT and _ID_PATTERN.fullmatch(value):
            return value
        raise self.error_for(name, f"must be an id of at most {ID_LIMIT} characters")

    def optional_id(self, name: str) -> str | None:
        """Return an id, or None if it is missing. Raises InvalidFieldsError if it is invalid."""
        return self.id(name) if self.has(name) else None

    def id_or_none(self, name: str) -> str | None:
        """Return an id, or None if it is missing or invalid."""
        try:
            return self.id(name)
        except InvalidFieldsError:
            return None

    def integer(self, name: str) -> int:
        """Return an integer. Raises InvalidFieldsError if it is missing or invalid."""
        value = self._fields.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and abs(value) < _MAX_INTEGER:
            return value
        raise self.error_for(name, "must be a whole number")

    def error_for(self, name: str, message: str) -> InvalidFieldsError:
        return InvalidFieldsError([FieldError(self._path_to(name), message)])

    def _path_to(self, name: str) -> str:
        return f"{self._path}.{name}" if self._path else name
