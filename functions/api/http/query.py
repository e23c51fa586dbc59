"""Query parameters, and bodies that should not be there, read with care."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from aws_lambda_powertools.utilities.data_classes.common import BaseProxyEvent
from duecourse.adapters.http.json_body import read_event
from duecourse.domain.errors import FieldError, InvalidFieldsError
from duecourse.domain.validation.fields import Fields, Reader, text

T = TypeVar("T")
CURSOR = text(1_000)


@dataclass(frozen=True)
class Query:
    """The parameters that a route knows. One that is left empty asks for nothing: `?status=`."""

    readers: Mapping[str, Reader[Any]]

    def read(self, event: BaseProxyEvent) -> dict[str, Any]:
        """Every parameter, as its default or None where it was not given."""
        given = {name: said for name, said in event.query_string_parameters.items() if said}
        fields = Fields(given, known=self.readers)
        found = {
            name: fields.read(name, reader, reader.schema.get("default"))
            for name, reader in self.readers.items()
        }
        fields.check()
        return found


def number_up_to(most: int, *, default: int) -> Reader[int]:
    def parse(said: str) -> int:
        is_number = said.isascii() and said.isdecimal() and len(said) < 10
        if not is_number or not 1 <= int(said) <= most:
            raise ValueError(f"must be a whole number from 1 to {most}")
        return int(said)

    return Reader(parse, {"type": "integer", "minimum": 1, "maximum": most, "default": default})


def part_of_request(name: str, parse: Callable[[Any], T], said: Any) -> T:
    """Raises InvalidFieldsError by that name."""
    try:
        return parse(said)
    except ValueError as error:
        raise InvalidFieldsError([FieldError(name, str(error))]) from error


def require_no_fields(event: Mapping[str, Any]) -> None:
    """Of a request that says all by its path: no body, or an empty object."""
    if event.get("body"):
        Fields(read_event(event), known=()).check()
