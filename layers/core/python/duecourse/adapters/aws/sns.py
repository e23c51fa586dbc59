"""Publish to an SNS topic. Every error says whether the message may have been sent."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from duecourse.adapters.aws.transport_errors import to_transport_error
from duecourse.adapters.channels.errors import ChatError, RateLimitedError
from duecourse.domain.origin import Effect

if TYPE_CHECKING:
    from botocore.exceptions import ClientError

_THROTTLED = frozenset({"Throttled", "Throttling", "ThrottlingException", "ThrottledException"})
_SERVER_ERROR = 500


class SnsTopic:
    """`channel` is the name that errors have."""

    def __init__(self, arn: str, *, channel: str) -> None:
        self._arn = arn
        self._channel = channel

    def publish(self, *, subject: str, text: str) -> None:
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            self._client.publish(TopicArn=self._arn, Subject=subject, Message=text)
        except ClientError as error:
            raise _to_chat_error(self._channel, error) from error
        except BotoCoreError as error:
            raise to_transport_error(self._channel, error) from error

    @cached_property
    def _client(self) -> Any:
        from botocore.config import Config

        from duecourse.adapters.aws.clients import make_client

        config = Config(connect_timeout=1, read_timeout=3, retries={"total_max_attempts": 1})
        return make_client("sns", config)


def _to_chat_error(channel: str, error: ClientError) -> ChatError:
    details = error.response.get("Error", {})
    code = str(details.get("Code") or "")
    status = int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode") or 0)
    message = str(details.get("Message") or "")
    if code in _THROTTLED:
        return RateLimitedError(channel, message, retry_after=None)
    failure = ChatError(channel, status, message, code=code or None)
    if status >= _SERVER_ERROR:
        failure.effect = Effect.UNKNOWN
    return failure
