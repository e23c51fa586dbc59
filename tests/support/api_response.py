"""Responses of the local stack.

All responses of a test are recorded: an error status that the test never reads fails it.
"""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

RESPONSES: list[ApiResponse] = []


class ApiResponse:
    """A response that knows whether the test read its status."""

    def __init__(self, status: int, body: Any, headers: Mapping[str, str], request: str) -> None:
        self._status = status
        self.body = body
        self.headers = headers
        self._request = request
        self.is_unchecked_error = status >= HTTPStatus.BAD_REQUEST
        RESPONSES.append(self)

    @property
    def status(self) -> int:
        self.is_unchecked_error = False
        return self._status

    def __repr__(self) -> str:
        return f"{self._request} -> {self._status} {self.body}"
