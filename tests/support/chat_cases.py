"""Messages, tokens and failures that the tests of all chat platforms share."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

import pytest
from duecourse.adapters.http.client import SsrfSafeHttpClient
from duecourse.domain.chat.chat_message import Button, ChatMessage
from duecourse.domain.chat.message import Message
from duecourse.domain.errors import DuecourseError
from duecourse.domain.failures.classifier.engine import diagnose
from duecourse.domain.failures.decision import Decision, decide
from duecourse.domain.failures.error_origin import origin_of
from duecourse.domain.failures.failure import Failure
from duecourse.domain.failures.failure_context import FailureContext
from duecourse.domain.http.exchange import HttpResponse
from duecourse.ports.integrations import Channel

from tests.support.builders.failures import builtin_policies
from tests.support.builders.moments import NOW
from tests.support.provider_cases import DictKeys
from tests.support.receiver import Receiver

TOKEN = "4711:qz-7Hd03kLmNo99pQr"  # a shape that no redaction pattern matches
TOKENS = DictKeys(telegram=TOKEN, slack=TOKEN, discord=TOKEN)
HELLO = ChatMessage("Reminder: stand-up")
SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)
HTTP_CLIENT = SsrfSafeHttpClient(is_loopback_allowed=True)
MESSAGE_WITH_BUTTONS = ChatMessage(
    "Done?", (Button("Done", "/done a1b2c3d4"), Button("1 h", "/snooze a1b2c3d4 1h"))
)


class ListHttpClient:
    """Answers every request with the same body and records the URLs: fast enough for thousands."""

    def __init__(self, body: Mapping[str, Any]) -> None:
        self.urls: list[str] = []
        self.timeouts: list[timedelta] = []
        self.body = json.dumps(body).encode()

    def post(self, url: str, body: bytes, headers: Any, *, timeout: timedelta) -> HttpResponse:  # noqa: ARG002
        self.urls.append(url)
        self.timeouts.append(timeout)
        return HttpResponse(200, {}, self.body)

    patch = post


def a_platform_message(
    channel: str, target: str, private_target: str | None = None, **reply_context: str
) -> Message:
    return Message(
        channel=channel,
        sender_id="7",
        reply_target=target,
        text="/tasks",
        dedup_key="k-1",
        sent_at=NOW,
        private_target=private_target,
        reply_context=reply_context,
    )


def answer_json(receiver: Receiver, status: int, body: Mapping[str, Any], **headers: str) -> None:
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    receiver.answer(status, json.dumps(body).encode(), headers=names)


def error_of(send: Callable[[], None]) -> DuecourseError:
    with pytest.raises(DuecourseError) as caught:
        send()
    return caught.value


def send_error(channel: Channel, target: str, message: ChatMessage = HELLO) -> DuecourseError:
    return error_of(lambda: channel.send(target, message, idempotency_key="k-1"))


def decision_after(error: Exception, policy: str = "omega", *, attempt: int = 1) -> Decision:
    """Return the decision of the policy after this error of a first attempt."""
    failure, rules = Failure.from_exception(error, at=NOW), builtin_policies()[policy]
    context = FailureContext(
        retry_count=0,
        max_retries=rules.max_retries,
        failed_at=NOW,
        budget_resets_at=NOW,
        attempt=attempt,
        origin=origin_of(error),
    )
    return decide(failure, diagnose(failure, rules), rules, context)


def utf16_length(text: str) -> int:
    """Return the length in UTF-16 code units, as the platforms count."""
    return len(text.encode("utf-16-le")) // 2


def exposed_text(error: BaseException | None) -> str:
    """Return every text of the error and its causes that could be logged or stored."""
    if error is None:
        return ""
    stored = Failure.from_exception(error).to_json()
    return f"{error} {error!r} {vars(error)} {stored}" + exposed_text(error.__cause__)
