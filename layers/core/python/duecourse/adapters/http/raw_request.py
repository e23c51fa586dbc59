"""A request with its exact bytes, which signatures are verified against."""

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
    """Header names are in lower case."""

    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)

    @classmethod
    def from_event(cls, event: Mapping[str, Any]) -> RawRequest:
        """Return the request of an API Gateway event.

        API Gateway encodes bodies in base64 if they are not plain text, and always encodes forms.
        Raises TooLargeError and InvalidFieldsError.
        """
        raw_headers = event.get("headers") or {}
        headers = {str(name).lower(): str(value) for name, value in raw_headers.items()}
        return cls(headers, _read_body(event))

    def header(self, name: str) -> str:
        """Return the header, or an empty string."""
        return self.headers.get(name, "")

    def text(self) -> str:
        """Return the body as UTF-8 text. Raises InvalidFieldsError."""
        try:
            return self.body.decode()
        except UnicodeDecodeError:
            raise InvalidFieldsError([FieldError("body", "must be UTF-8 text")]) from None

    def json_object(self) -> dict[str, Any]:
        """Return the body as a JSON object. Raises InvalidFieldsError."""
        return parse_object(self.text())


def _read_body(event: Mapping[str, Any]) -> bytes:
    text = str(event.get("body") or "")
    is_base64 = bool(event.get("isBase64Encoded"))
    body = _decode_base64(text) if is_base64 else text.encode("utf-8", "surrogatepass")
    if len(body) > MAX_BODY_SIZE:
        raise TooLargeError(MAX_BODY_SIZE)
    return body


def _decode_base64(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        raise InvalidFieldsError([FieldError("body", "must be base64")]) from None
