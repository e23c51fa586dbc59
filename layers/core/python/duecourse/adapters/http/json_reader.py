"""A part of somebody's JSON, which may hold anything: what is read from it is checked first."""

from __future__ import annotations

import re
from typing import Any

from duecourse.adapters.http.surrogates import whole_characters
from duecourse.domain.errors import FieldError, InvalidFieldsError

TEXT_LIMIT = 8_000
ID_LIMIT = 100
_ID = re.compile(r"[A-Za-z0-9_.-]+")
_LARGEST = 2**63


class JsonPart:
    """What is no object is read as an empty one. `path` is where it was found, for the errors."""

    def __init__(self, value: Any, path: str = "") -> None:
        self._fields: dict[str, Any] = value if isinstance(value, dict) else {}
        self._path = path

    def has(self, name: str) -> bool:
        return self._fields.get(name) is not None

    def is_true(self, name: str) -> bool:
        return self._fields.get(name) is True

    def part(self, name: str) -> JsonPart:
        return JsonPart(self._fields.get(name), self._under(name))

    def parts(self, name: str) -> list[JsonPart]:
        """Those in a list; none where it is no list."""
        found = self._fields.get(name)
        values = found if isinstance(found, list) else []
        return [JsonPart(value, f"{self._under(name)}.{n}") for n, value in enumerate(values)]

    def text(self, name: str) -> str | None:
        """What somebody wrote, cut where it is longer than anything that is read."""
        value = self._fields.get(name)
        return whole_characters(value[:TEXT_LIMIT]) if isinstance(value, str) else None

    def shown(self, name: str) -> str:
        """A text or a number, as a person would write it. Raises InvalidFieldsError."""
        value = self._fields.get(name)
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise self.refusal(name, "must be a text or a number")
        return whole_characters(str(value)[:TEXT_LIMIT])

    def id(self, name: str) -> str:
        """Raises InvalidFieldsError for what is none."""
        value = self._fields.get(name)
        if isinstance(value, str) and len(value) <= ID_LIMIT and _ID.fullmatch(value):
            return value
        raise self.refusal(name, f"must be an id of at most {ID_LIMIT} characters")

    def id_if_any(self, name: str) -> str | None:
        """Raises InvalidFieldsError for what is there and is none."""
        return self.id(name) if self.has(name) else None

    def id_or_none(self, name: str) -> str | None:
        """For what we can do without."""
        try:
            return self.id(name)
        except InvalidFieldsError:
            return None

    def number(self, name: str) -> int:
        """Raises InvalidFieldsError for what is no whole number."""
        value = self._fields.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and abs(value) < _LARGEST:
            return value
        raise self.refusal(name, "must be a whole number")

    def refusal(self, name: str, message: str) -> InvalidFieldsError:
        return InvalidFieldsError([FieldError(self._under(name), message)])

    def _under(self, name: str) -> str:
        return f"{self._path}.{name}" if self._path else name
