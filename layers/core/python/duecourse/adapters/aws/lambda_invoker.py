"""Other Lambda functions, called once and waited for.

Nothing here is repeated by itself: a second call could be a second effect. Every error says by
`effect` whether the function may have done its work.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from duecourse.domain.errors import DuecourseError
from duecourse.domain.http.exchange import NoResponseError, NotSentError
from duecourse.domain.origin import Effect, Origin
from duecourse.domain.text.redaction import truncate_middle

if TYPE_CHECKING:
    from botocore.exceptions import BotoCoreError, ClientError
    from botocore.response import StreamingBody

MAX_RESPONSE_BYTES = 1024 * 1024
CONNECT_TIMEOUT = 2  # seconds
_MAX_MESSAGE_LENGTH = 8_000
_MAX_NAME_LENGTH = 200

# A function that fails leaves open how far it came, but for these: it never began, or it says so
# itself by raising an error of its own that is called NotAppliedError.
_NOT_APPLIED_ERRORS = frozenset(
    {
        "NotAppliedError",
        "Runtime.ImportModuleError",
        "Runtime.HandlerNotFound",
        "Runtime.MalformedHandlerName",
        "Runtime.UserCodeSyntaxError",
    }
)
_EFS_IO_ERROR = "EFSIOException"  # the one refusal that comes while the function runs
_NOT_SENT_CODES = {
    "ConnectTimeoutError": "ETIMEDOUT",
    "EndpointConnectionError": "ECONNREFUSED",
    "ProxyConnectionError": "ECONNREFUSED",
    "NoCredentialsError": "no_credentials",
    "PartialCredentialsError": "no_credentials",
    "CredentialRetrievalError": "no_credentials",
    "NoRegionError": "no_region",
    "ParamValidationError": "bad_function_name",
}


class NotInvokedError(DuecourseError):
    """Lambda did not let the call through, or broke off itself."""

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
        """Of the 5xx, only the 502s that have a name are about what comes before a function."""
        if self.status == 502:
            return self.code.endswith("Exception")
        return 400 <= self.status < 500 and self.code != _EFS_IO_ERROR


class FunctionFailedError(DuecourseError):
    """The function's own error, in its own words."""

    def __init__(self, function: str, error: Mapping[str, Any]) -> None:
        message, named = error.get("errorMessage"), error.get("errorType")
        shown = message if isinstance(message, str) else "it failed without a word"
        super().__init__(truncate_middle(f"{function}: {shown}", _MAX_MESSAGE_LENGTH))
        self.type = named[:_MAX_NAME_LENGTH] if isinstance(named, str) else "FunctionError"
        self.effect = Effect.NONE if named in _NOT_APPLIED_ERRORS else Effect.UNKNOWN


class UnreadableResponseError(DuecourseError):
    """The function did its work; only what it answered is lost, and would be again."""

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
            raise _to_transport_error(function, error) from error
        if answer.get("FunctionError"):
            raise FunctionFailedError(function, _parse_error(body))
        return _require_json(function, body)

    def _client(self, timeout: timedelta) -> Any:
        """One for each number of seconds: a client cannot be told anew how long to wait."""
        import boto3
        from botocore.config import Config

        seconds = max(1, int(timeout.total_seconds()))
        if seconds not in self._clients:
            config = Config(
                connect_timeout=CONNECT_TIMEOUT,
                read_timeout=seconds,
                retries={"total_max_attempts": 1},
            )
            self._clients[seconds] = boto3.client(
                "lambda", endpoint_url=self._endpoint_url, config=config
            )
        return self._clients[seconds]


def _read_body(stream: StreamingBody) -> bytes:
    """Up to a byte too much. Only a read to the end notices that something is missing."""
    body = stream.read(MAX_RESPONSE_BYTES + 1)
    return body if len(body) > MAX_RESPONSE_BYTES else body + stream.read()


def _response_of(error: ClientError) -> Mapping[str, Any]:
    return {**error.response}


def _to_transport_error(function: str, error: BotoCoreError) -> DuecourseError:
    name = type(error).__name__
    if code := _NOT_SENT_CODES.get(name):
        return NotSentError(f"{function} was not called: {name}", code=code)
    if name == "ReadTimeoutError":
        return NoResponseError(f"{function} did not answer in time", code="ETIMEDOUT")
    return NoResponseError(f"the connection broke before {function} answered", code="ECONNRESET")


def _parse_error(body: bytes) -> Mapping[str, Any]:
    try:
        told = json.loads(body.decode())
    except (ValueError, RecursionError):
        return {}
    return told if isinstance(told, dict) else {}


def _require_json(function: str, body: bytes) -> bytes:
    """What answers nothing answers null."""
    if len(body) > MAX_RESPONSE_BYTES:
        raise UnreadableResponseError(f"the answer of {function} is larger than 1 MiB")
    try:
        json.loads(body.decode() or "null")
    except (ValueError, RecursionError):
        raise UnreadableResponseError(f"the answer of {function} is not JSON") from None
    return body or b"null"
