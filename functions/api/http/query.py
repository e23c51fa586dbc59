"""Read query parameters, and check bodies that must be empty."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from aws_lambda_powertools.utilities.data_classes.common import BaseProxyEvent
from duecourse.adapters.http.json_body import parse_event_body
from duecourse.domain.errors import FieldError, InvalidFieldsError
from duecourse.domain.validation.fields import Fields, Reader, text_field

T = TypeVar("T")
CURSOR = text_field(1_000)


@dataclass(frozen=True)
class Query:
    """The query parameters of a route. An empty one (`?status=`) counts as missing."""

    readers: Mapping[str, Reader[Any]]

    def read(self, event: BaseProxyEvent) -> dict[str, Any]:
        """Return every parameter, or its default (None if it has none).

        Raises InvalidFieldsError.
        """
        sent = {name: value for name, value in event.query_string_parameters.items() if value}
        fields = Fields(sent, allowed=self.readers)
        parameters = {
            name: fields.read(name, reader, reader.schema.get("default"))
            for name, reader in self.readers.items()
        }
        fields.raise_if_invalid()
        return parameters


def integer_up_to(maximum: int, *, default: int) -> Reader[int]:
    def parse(text: str) -> int:
        is_number = text.isascii() and text.isdecimal() and len(text) < 10
        if not is_number or not 1 <= int(text) <= maximum:
            raise ValueError(f"must be a whole number from 1 to {maximum}")
        return int(text)

    return Reader(parse, {"type": "integer", "minimum": 1, "maximum": maximum, "default": default})


def parse_parameter(name: str, parse: Callable[[Any], T], value: Any) -> T:
    """Return `parse(value)`. Turn its ValueError into an InvalidFieldsError for `name`."""
    try:
        return parse(value)
    except ValueError as error:
        raise InvalidFieldsError([FieldError(name, str(error))]) from error


def require_empty_body(event: Mapping[str, Any]) -> None:
    """Raise InvalidFieldsError unless the body is missing or an empty object."""
    if event.get("body"):
        Fields(parse_event_body(event), allowed=()).raise_if_invalid()
