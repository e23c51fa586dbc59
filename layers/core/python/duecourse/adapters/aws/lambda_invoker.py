"""Invoke other Lambda functions once and wait for the response.

Nothing is retried here: a second invocation could repeat a side effect. Every error has an
`effect`, which says whether the function may have done its work.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from duecourse.adapters.aws.transport_errors import to_transport_error
from duecourse.domain.errors import DuecourseError
from duecourse.domain.origin import Effect, Origin
from duecourse.domain.text.redaction import truncate_middle

if TYPE_CHECKING:
    from botocore.exceptions import ClientError
    from botocore.response import StreamingBody

MAX_RESPONSE_BYTES = 1024 * 1024
CONNECT_TIMEOUT = 2  # seconds
_MAX_MESSAGE_LENGTH = 8_000
_MAX_NAME_LENGTH = 200

# A failed function usually has an unknown effect. These errors prove that it had none: the function
# never started, or its own code raised an error named NotAppliedError.
_NOT_APPLIED_ERRORS = frozenset(
    {
        "NotAppliedError",
        "Runtime.ImportModuleError",
        "Runtime.HandlerNotFound",
        "Runtime.MalformedHandlerName",
        "Runtime.UserCodeSyntaxError",
    }
)
_EFS_IO_ERROR = "EFSIOException"  # the only rejection that can happen while the function runs


class NotInvokedError(DuecourseError):
    """Lambda rejected the invocation, or failed itself."""

    def __init__(self, function: str, response: Mapping[str, Any]) -> None:
        error, meta = response.get("Error", {}), response.get("ResponseMetadata", {})
        super().__init__(
            truncate_middle(f"{function}: {error.get('Message')}", _MAX_MESSAGE_LENGTH)
        )
        self.type = self.code = str(error.get("Code"))[:_MAX_NAME_LENGTH]
        self.status = int(meta.get("HTTPStatusCode", 0))
        self.retry_after = meta.get("HTTPHeaders", {}).get("retry-after")
        self.effect = Effect.NONE if self._is_rejected else Effect.UNKNOWN

    @property
    def _is_rejected(self) -> bool:
        """Return whether Lambda rejected the call before the function ran.

        Of the 5xx responses, only a 502 with an exception name means that.
        """
        if self.status == 502:
            return self.code.endswith("Exception")
        return 400 <= self.status < 500 and self.code != _EFS_IO_ERROR


class FunctionFailedError(DuecourseError):
    """The error that the function itself raised."""

    def __init__(self, function: str, error: Mapping[str, Any]) -> None:
        message, named = error.get("errorMessage"), error.get("errorType")
        text = message if isinstance(message, str) else "it failed without a message"
        super().__init__(truncate_middle(f"{function}: {text}", _MAX_MESSAGE_LENGTH))
        self.type = named[:_MAX_NAME_LENGTH] if isinstance(named, str) else "FunctionError"
        self.effect = Effect.NONE if named in _NOT_APPLIED_ERRORS else Effect.UNKNOWN


class UnreadableResponseError(DuecourseError):
    """The function succeeded, but its response is too large or not JSON. A retry would not help."""

    type = "UnreadableAnswer"
    code = "unreadable_answer"
    origin = Origin.LOGIC
    effect = Effect.APPLIED


class LambdaInvoker:
    def __init__(self, *, endpoint_url: str | None = None) -> None:
        self._endpoint_url = endpoint_url
        self._clients: dict[int, Any] = {}

    def invoke(self, function: str, payload: bytes, *, timeout: timedelta) -> bytes:
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            answer = self._client(timeout).invoke(
                FunctionName=function, InvocationType="RequestResponse", Payload=payload
            )
            body = _read_body(answer["Payload"])
        except ClientError as error:
            raise NotInvokedError(function, _response_of(error)) from error
        except BotoCoreError as error:
            raise to_transport_error(function, error, invalid_code="bad_function_name") from error
        if answer.get("FunctionError"):
            raise FunctionFailedError(function, _parse_error(body))
        return _require_json(function, body)

    def _client(self, timeout: timedelta) -> Any:
        """Return a client for this timeout.

        A client's timeout cannot change, so each second has its own.
        """
        from botocore.config import Config

        from duecourse.adapters.aws.clients import make_client

        seconds = max(1, int(timeout.total_seconds()))
        if seconds not in self._clients:
            config = Config(
                connect_timeout=CONNECT_TIMEOUT,
                read_timeout=seconds,
                retries={"total_max_attempts": 1},
            )
            self._clients[seconds] = make_client("lambda", config, endpoint_url=self._endpoint_url)
        return self._clients[seconds]


def _read_body(stream: StreamingBody) -> bytes:
    """Return the body, or one byte more than the limit if it is too large.

    Only a read to the end raises if the body was cut off.
    """
    body = stream.read(MAX_RESPONSE_BYTES + 1)
    return body if len(body) > MAX_RESPONSE_BYTES else body + stream.read()


def _response_of(error: ClientError) -> Mapping[str, Any]:
    return {**error.response}


def _parse_error(body: bytes) -> Mapping[str, Any]:
    try:
        parsed = json.loads(body.decode())
    except (ValueError, RecursionError):
        return {}
    return parsed if isinstance(parsed, dict) else {}


def _require_json(function: str, body: bytes) -> bytes:
    """Return `body` if it is JSON; an empty body counts as null. Raises UnreadableResponseError."""
    if len(body) > MAX_RESPONSE_BYTES:
        raise UnreadableResponseError(f"the answer of {function} is larger than 1 MiB")
    try:
        json.loads(body.decode() or "null")
    except (ValueError, RecursionError):
        raise UnreadableResponseError(f"the answer of {function} is not JSON") from None
    return body or b"null"
