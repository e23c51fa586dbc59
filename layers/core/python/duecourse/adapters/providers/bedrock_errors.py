"""What botocore raises, told as the other providers tell it."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from duecourse.adapters.http.json_response import at, name_at, text_at
from duecourse.adapters.providers.error_responses import LONGEST_MESSAGE
from duecourse.adapters.providers.errors import BadAnswerError, ProviderError
from duecourse.adapters.providers.rate_limit_headers import wait_told_by

if TYPE_CHECKING:
    from botocore.exceptions import ClientError

NAME = "bedrock"


def failure_of(error: Exception, *, model: str, now: datetime) -> ProviderError:
    from botocore.exceptions import BotoCoreError, ClientError

    if isinstance(error, ClientError):
        return _refusal(error, model, now)
    if isinstance(error, BotoCoreError | TimeoutError):
        return _no_answer(error, model)
    return BadAnswerError(NAME, "no JSON object of the expected format", model=model)


def _refusal(error: ClientError, model: str, now: datetime) -> ProviderError:
    code = name_at(error.response, "Error", "Code")
    status = at(error.response, "ResponseMetadata", "HTTPStatusCode")
    headers = at(error.response, "ResponseMetadata", "HTTPHeaders") or {}
    said = text_at(error.response, "Error", "Message")[:LONGEST_MESSAGE]
    return ProviderError(
        f"{NAME} answered {status}: {said or code}",
        type=code,
        code=code,
        status=status,
        retry_after=wait_told_by(headers, status=status or 0, now=now),
        model=model,
    )


def _no_answer(error: Exception, model: str) -> ProviderError:
    kind, code, cost = _met(error)
    told = str(error) or "the time was up"
    return ProviderError(
        f"{NAME} was not heard: {told}", type=kind, code=code, cost=cost, model=model
    )


def _met(error: Exception) -> tuple[str, str, int | None]:
    """Type, code and cost. What has not been sent costs nothing."""
    from botocore import exceptions as met

    if isinstance(error, met.ConnectTimeoutError):
        return "NotSent", "ETIMEDOUT", 0
    if isinstance(error, met.ConnectionError):
        return "NotSent", "ECONNREFUSED", 0
    if isinstance(error, met.ReadTimeoutError | TimeoutError):
        return "NoAnswer", "ETIMEDOUT", None
    if isinstance(error, met.HTTPClientError):
        return "NoAnswer", "ECONNRESET", None
    name = type(error).__name__
    return name, name, 0
