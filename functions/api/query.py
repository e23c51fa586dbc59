"""Query parameters, and bodies that should not be there, read with care."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from duecourse.adapters.http.json_body import read_event
from duecourse.domain.errors import FieldError, InvalidFieldsError
from duecourse.domain.fields import Fields


def given(query: Mapping[str, str]) -> dict[str, str]:
    """Without the parameters that were left empty: `?status=` asks for nothing."""
    return {name: text for name, text in query.items() if text}


def whole_number_in(query: Mapping[str, str], name: str, *, default: int, most: int) -> int:
    text = query.get(name)
    if text is None:
        return default
    if not (text.isascii() and text.isdecimal() and len(text) < 10 and 1 <= int(text) <= most):
        message = f"must be a whole number from 1 to {most}"
        raise InvalidFieldsError([FieldError(name, message)])
    return int(text)


def require_no_fields(event: Mapping[str, Any]) -> None:
    """Of a request that says all by its path: no body, or an empty object."""
    if event.get("body"):
        Fields(read_event(event), known=()).check()


def only_known(query: Mapping[str, str], known: frozenset[str]) -> None:
    unknown = [FieldError(name[:100], "unknown parameter") for name in query if name not in known]
    if unknown:
        raise InvalidFieldsError(unknown)
