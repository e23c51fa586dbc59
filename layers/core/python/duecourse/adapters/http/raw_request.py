"""A request as it came over the wire: signatures are checked over its very bytes."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from duecourse.adapters.http.json_body import MAX_BODY_SIZE, parse_object
from duecourse.adapters.http.request_errors import TooLargeError
from duecourse.domain.errors import FieldError, InvalidFieldsError


@dataclass(frozen=True)
class RawRequest:
    """The names of its headers are in lower case."""

    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)

    @classmethod
    def from_event(cls, event: Mapping[str, Any]) -> RawRequest:
        """Of API Gateway, which sends base64 where the body is not plain text, as forms never are.

        Raises TooLargeError and InvalidFieldsError.
        """
        given = event.get("headers") or {}
        headers = {str(name).lower(): str(value) for name, value in given.items()}
        return cls(headers, _read_body(event))

    def header(self, name: str) -> str:
        """Empty where there is none."""
        return self.headers.get(name, "")

    def text(self) -> str:
        """Raises InvalidFieldsError."""
        try:
            return self.body.decode()
        except UnicodeDecodeError:
            raise InvalidFieldsError([FieldError("body", "is not text in UTF-8")]) from None

    def json_object(self) -> dict[str, Any]:
        """Raises InvalidFieldsError."""
        return parse_object(self.text())


def _read_body(event: Mapping[str, Any]) -> bytes:
    given = str(event.get("body") or "")
    is_base64 = bool(event.get("isBase64Encoded"))
    body = _decode_base64(given) if is_base64 else given.encode("utf-8", "surrogatepass")
    if len(body) > MAX_BODY_SIZE:
        raise TooLargeError(MAX_BODY_SIZE)
    return body


def _decode_base64(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        raise InvalidFieldsError([FieldError("body", "is not base64")]) from None
