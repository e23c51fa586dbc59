"""Convert the server's error responses to one sentence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from local.cli.client.json_lists import list_or_empty
from local.cli.client.server import TOKEN_VARIABLE, Server
from local.cli.errors import CommandFailedError, UsageError

_LOCAL_HINT = "`make up` prints the token; the default is `local`"
_REMOTE_HINT = "`duecourse token` creates one"


class RefusedError(CommandFailedError):
    """`fields` are the invalid fields, each with its message."""

    def __init__(
        self, message: str, *, status: int, fields: list[tuple[str, str]] | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.fields = fields or []

    @property
    def is_fatal(self) -> bool:
        """Return whether the next request would fail as well."""
        return self.status in (401, 403, 429) or self.status >= 500 or self.status < 400


def error_from_problem(status: int, body: Any, server: Server) -> RefusedError:
    problem = body if isinstance(body, dict) else {}
    if status == 401:
        message = rejected_token_text(server.name, server)
    elif 300 <= status < 400:
        message = f"{server.name} redirects ({status}), which is not followed; check DUECOURSE_URL"
    elif isinstance(text := problem.get("detail") or problem.get("message"), str):
        message = f"{text} ({status})" if status in (403, 429) or status >= 500 else text
    else:
        message = f"{server.name} answered {status} without a reason; check DUECOURSE_URL"
    return RefusedError(message, status=status, fields=_parse_fields(problem.get("errors")))


def rejected_token_text(address: str, server: Server) -> str:
    hint = _LOCAL_HINT if server.is_local else _REMOTE_HINT
    if server.has_default_token:
        hint = f"{TOKEN_VARIABLE} is not set; {hint}"
    return f"Invalid token: {address} rejected {server.token_name} ({hint})"


def _parse_fields(errors: Any) -> list[tuple[str, str]]:
    return [
        (str(error.get("field")), str(error.get("message")))
        for error in list_or_empty(errors)
        if isinstance(error, dict)
    ]


def to_usage_error(
    error: RefusedError, flag_by_field: Mapping[str, str]
) -> CommandFailedError | UsageError:
    """Return a usage error naming the flags of the invalid fields, or `error` without such."""
    if not error.fields:
        return error
    return UsageError(
        "; ".join(f"{flag_by_field.get(name, name)}: {message}" for name, message in error.fields)
    )
