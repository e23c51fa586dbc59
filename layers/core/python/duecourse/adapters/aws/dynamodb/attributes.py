"""PynamoDB attributes for domain values. Empty values are not stored."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Any, Generic, TypeVar

from pynamodb.attributes import (
    Attribute,
    BooleanAttribute,
    JSONAttribute,
    ListAttribute,
    NumberAttribute,
)
from pynamodb.constants import BINARY, STRING

from duecourse.adapters.aws.dynamodb.packed_attributes import compress_json, decompress_json
from duecourse.domain.tasks.failure_kind import Kind
from duecourse.domain.time.instant import from_text, to_text

E = TypeVar("E", bound=StrEnum)
V = TypeVar("V")


class InstantAttribute(Attribute[datetime]):
    """A UTC instant as fixed-width text, so the texts sort like the instants."""

    attr_type = STRING

    def serialize(self, value: datetime) -> str:
        return to_text(value)

    def deserialize(self, value: str) -> datetime:
        return from_text(value)


class WallTimeAttribute(Attribute[datetime]):
    """A local time without its zone; the zone is stored in another attribute."""

    attr_type = STRING

    def serialize(self, value: datetime) -> str:
        return value.isoformat(timespec="milliseconds")

    def deserialize(self, value: str) -> datetime:
        return datetime.fromisoformat(value)


class EnumAttribute(Attribute[E], Generic[E]):
    attr_type = STRING

    def __init__(self, enum: type[E], **options: Any) -> None:
        super().__init__(**options)
        self._enum = enum

    def serialize(self, value: E) -> str:
        return str(value)

    def deserialize(self, value: str) -> E:
        return self._enum(value)


class KindAttribute(Attribute[Kind]):
    """The kind of a failure. One that only newer code knows is read as UNKNOWN."""

    attr_type = STRING

    def serialize(self, value: Kind) -> str:
        return str(value)

    def deserialize(self, value: str) -> Kind:
        return Kind.parse(value) or Kind.UNKNOWN


class FlagAttribute(BooleanAttribute):
    """A boolean that is stored only if true."""

    def serialize(self, value: bool) -> bool | None:
        return value or None


class CountAttribute(NumberAttribute):
    """A number that is stored only if it is not zero."""

    def serialize(self, value: int) -> str | None:
        return str(value) if value else None


class TextsAttribute(ListAttribute[str]):
    """A tuple of strings that is stored only if it is not empty."""

    def serialize(
        self, values: Sequence[str], *, null_check: bool = True
    ) -> list[dict[str, str]] | None:
        return super().serialize(values, null_check=null_check) or None

    def deserialize(self, values: list[dict[str, str]]) -> tuple[str, ...]:
        return tuple(super().deserialize(values))


class CompressedJsonAttribute(Attribute[Any]):
    """JSON, compressed: every stored kilobyte costs a write unit."""

    attr_type = BINARY

    def serialize(self, value: Any) -> bytes:
        return compress_json(value)

    def deserialize(self, value: bytes) -> Any:
        return decompress_json(value)


class ValueAttribute(JSONAttribute, Generic[V]):
    """A domain value as JSON. An empty list or object is not stored."""

    def __init__(
        self, to_stored: Callable[[V], Any], from_stored: Callable[[Any], V], **options: Any
    ) -> None:
        super().__init__(**options)
        self._to_stored = to_stored
        self._from_stored = from_stored

    def serialize(self, value: V) -> str | None:
        return super().serialize(self._to_stored(value) or None)

    def deserialize(self, value: str) -> V:
        return self._from_stored(super().deserialize(value))
