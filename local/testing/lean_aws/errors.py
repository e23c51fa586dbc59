"""Errors of the lean endpoint: those that AWS reports, and what the endpoint does not support."""

from __future__ import annotations

from typing import Any


class AwsError(Exception):
    """An error response. `fields` are the modelled fields beside code and message."""

    def __init__(self, code: str, message: str, *, status: int = 400, **fields: Any) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.status = status
        self.fields = fields


class UnsupportedError(NotImplementedError):
    """The request needs something that the lean endpoint does not implement."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f"the lean AWS endpoint does not support {what};"
            " add it to local/testing/lean_aws, or run the test on moto"
        )


def validation_error(message: str) -> AwsError:
    return AwsError("ValidationException", message)


def check_parameters(operation: str, request: dict[str, Any], known: frozenset[str]) -> None:
    """Raise UnsupportedError for a parameter that would otherwise be ignored silently."""
    if unknown := request.keys() - known:
        raise UnsupportedError(f"{operation} with {', '.join(sorted(unknown))}")
