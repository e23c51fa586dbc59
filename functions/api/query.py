"""Query parameters, read with care."""

from __future__ import annotations

from collections.abc import Mapping

from duecourse.domain.errors import FieldError, InvalidFieldsError


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


def only_known(query: Mapping[str, str], known: frozenset[str]) -> None:
    unknown = [FieldError(name[:100], "unknown parameter") for name in query if name not in known]
    if unknown:
        raise InvalidFieldsError(unknown)
