"""What the local stack answers to a test.

Every answer is remembered until the test is over: a refusal that no test looked at fails it.
"""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

RESPONSES: list[ApiResponse] = []


class ApiResponse:
    """Knows whether a test has looked at its status."""

    def __init__(self, status: int, body: Any, headers: Mapping[str, str], request: str) -> None:
        self._status = status
        self.body = body
        self.headers = headers
        self._request = request
        self.is_unnoticed_refusal = status >= HTTPStatus.BAD_REQUEST
        RESPONSES.append(self)

    @property
    def status(self) -> int:
        self.is_unnoticed_refusal = False
        return self._status

    def __repr__(self) -> str:
        return f"{self._request} -> {self._status} {self.body}"
