"""Reads the fields of a stored JSON object and rejects values of the wrong type."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, TypeVar

from duecourse.domain.time.duration import MAX_DURATION
from duecourse.domain.time.instant import from_text_or_none

T = TypeVar("T")
E = TypeVar("E", bound=StrEnum)


@dataclass(frozen=True, slots=True)
class StoredFields:
    """The fields of a stored object. A null counts as missing; unknown fields are ignored.

    Every method raises ValueError, naming the field, for a value of the wrong type.
    """

    values: Mapping[str, Any]

    @classmethod
    def of(cls, stored: Any) -> StoredFields:
        if not isinstance(stored, Mapping):
            raise ValueError(f"must be a JSON object, not {type(stored).__name__}")
        return cls(stored)

    def text(self, name: str) -> str | None:
        value = self.values.get(name)
        if value is not None and not isinstance(value, str):
            raise ValueError(f"{name}: must be a string, not {type(value).__name__}")
        return value

    def number(self, name: str) -> float | None:
        value = self.values.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueError(f"{name}: must be a number, not {type(value).__name__}")
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError(f"{name}: must be a finite number, not {value}")
        return value

    def integer(self, name: str) -> int | None:
        value = self.number(name)
        if value is None or isinstance(value, int):
            return value
        if not value.is_integer():
            raise ValueError(f"{name}: must be a whole number, not {value}")
        return int(value)

    def flag(self, name: str, *, default: bool) -> bool:
        value = self.values.get(name)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise ValueError(f"{name}: must be true or false, not {type(value).__name__}")
        return value

    def seconds(self, name: str) -> timedelta | None:
        value = self.number(name)
        if value is None:
            return None
        if not 0 <= value <= MAX_DURATION.total_seconds():
            raise ValueError(f"{name}: must be from 0 seconds to 100 years")
        return timedelta(seconds=value)

    def instant(self, name: str) -> datetime | None:
        value = self.text(name)
        try:
            return from_text_or_none(value)
        except (OverflowError, ValueError):
            raise ValueError(
                f"{name}: must be an instant such as 2026-02-17T15:00:00Z, not {value!r}"
            ) from None

    def member(self, name: str, members: type[E]) -> E | None:
        value = self.text(name)
        try:
            return None if value is None else members(value)
        except ValueError:
            raise ValueError(f"{name}: no {members.__name__} has the value {value!r}") from None

    def nested(self, name: str, read: Callable[[Any], T]) -> T | None:
        value = self.values.get(name)
        try:
            return None if value is None else read(value)
        except ValueError as error:
            raise ValueError(f"{name}.{error}") from None

    def required(self, name: str, value: T | None) -> T:
        """Return `value`, which another method read for `name`. Raises ValueError if it is None."""
        if value is None:
            raise ValueError(f"{name}: is missing")
        return value
