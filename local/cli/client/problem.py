"""Convert the server's error responses to one sentence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from local.cli.client.json_lists import list_or_empty
from local.cli.client.server import Server
from local.cli.errors import CommandFailedError, UsageError

_LOCAL_HINT = "a stack of `make up` prints its token, which is `local` unless told otherwise"
_REMOTE_HINT = "`duecourse token` makes one"


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
    said = body if isinstance(body, dict) else {}
    if status == 401:
        source = _LOCAL_HINT if server.is_local else _REMOTE_HINT
        message = f"{server.name} does not accept the token in DUECOURSE_TOKEN: {source}"
    elif 300 <= status < 400:
        message = f"{server.name} leads elsewhere ({status}), which is not followed: check its URL"
    elif isinstance(text := said.get("detail") or said.get("message"), str):
        message = f"{text} ({status})" if status in (403, 429) or status >= 500 else text
    else:
        message = f"{server.name} answered {status} and not why: is it the address of an API?"
    return RefusedError(message, status=status, fields=_parse_fields(said.get("errors")))


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
        "; ".join(f"{flag_by_field.get(name, name)}: {why}" for name, why in error.fields)
    )
