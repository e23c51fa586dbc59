"""Convert botocore's exceptions to ProviderError."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from duecourse.adapters.http.json_response import name_at, text_at, value_at
from duecourse.adapters.providers.error_responses import MAX_MESSAGE_LENGTH
from duecourse.adapters.providers.errors import InvalidResponseError, ProviderError
from duecourse.adapters.providers.rate_limit_headers import retry_after_from_headers

if TYPE_CHECKING:
    from botocore.exceptions import ClientError

NAME = "bedrock"


def error_from_exception(error: Exception, *, model: str, now: datetime) -> ProviderError:
    from botocore.exceptions import BotoCoreError, ClientError

    if isinstance(error, ClientError):
        return _error_response(error, model, now)
    if isinstance(error, BotoCoreError | TimeoutError):
        return _no_response_error(error, model)
    return InvalidResponseError(NAME, "no JSON object of the expected format", model=model)


def _error_response(error: ClientError, model: str, now: datetime) -> ProviderError:
    code = name_at(error.response, "Error", "Code")
    status = value_at(error.response, "ResponseMetadata", "HTTPStatusCode")
    headers = value_at(error.response, "ResponseMetadata", "HTTPHeaders") or {}
    message = text_at(error.response, "Error", "Message")[:MAX_MESSAGE_LENGTH]
    return ProviderError(
        f"{NAME} answered {status}: {message or code}",
        type=code,
        code=code,
        status=status,
        retry_after=retry_after_from_headers(headers, status=status or 0, now=now),
        model=model,
    )


def _no_response_error(error: Exception, model: str) -> ProviderError:
    kind, code, cost = _classify(error)
    message = str(error) or "it timed out"
    return ProviderError(
        f"the call to {NAME} failed: {message}", type=kind, code=code, cost=cost, model=model
    )


def _classify(error: Exception) -> tuple[str, str, int | None]:
    """Return type, code and cost. A request that was not sent costs nothing."""
    from botocore import exceptions

    if isinstance(error, exceptions.ConnectTimeoutError):
        return "NotSent", "ETIMEDOUT", 0
    if isinstance(error, exceptions.ConnectionError):
        return "NotSent", "ECONNREFUSED", 0
    if isinstance(error, exceptions.ReadTimeoutError | TimeoutError):
        return "NoAnswer", "ETIMEDOUT", None
    if isinstance(error, exceptions.HTTPClientError):
        return "NoAnswer", "ECONNRESET", None
    name = type(error).__name__
    return name, name, 0
