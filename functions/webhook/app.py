"""Receives chat webhooks: verifies, parses, checks access, enqueues and acknowledges.

The reply comes later. Strangers get theirs in the response, so they never reach the queue.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from http import HTTPStatus
from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.typing import LambdaContext
from duecourse.adapters.channels.inbound import RefusalResponse
from duecourse.adapters.http.problem import CONTENT_TYPE, problem_from_error
from duecourse.adapters.http.raw_request import RawRequest
from duecourse.adapters.http.request_errors import (
    NotVerifiedError,
    TooLargeError,
    UnknownPlatformError,
)
from duecourse.app import chat_access, queues, registry, stores
from duecourse.domain.chat.message import Message
from duecourse.domain.chat.refusal import entry_for, refusal_text
from duecourse.domain.chat.teams import pin_team
from duecourse.domain.errors import InvalidFieldsError

MAX_PLATFORM_LENGTH = 20
logger = Logger(service="webhook")


@logger.inject_lambda_context
def handler(event: dict[str, Any], _context: LambdaContext) -> dict[str, Any]:
    name = str((event.get("pathParameters") or {}).get("platform"))
    try:
        reply = _receive(name, event)
    except (UnknownPlatformError, TooLargeError, NotVerifiedError, InvalidFieldsError) as error:
        logger.info("webhook_refused", platform=name[:MAX_PLATFORM_LENGTH], reason=str(error))
        body = problem_from_error(error)
        return _response(body["status"], CONTENT_TYPE, body)
    return _response(HTTPStatus.OK, "application/json", reply)


def _receive(name: str, event: dict[str, Any]) -> Mapping[str, Any] | None:
    """Queue the message of a sender who may use chat, and return the body of the response."""
    now, access = stores.clock().now(), chat_access.chat_settings().access
    result = registry.inbound_parser(name).parse(RawRequest.from_event(event), now=now)
    if name not in registry.channels():  # no channel to reply through
        raise UnknownPlatformError
    if result.message is None:
        logger.info("acknowledged", platform=name)
        return result.reply
    message = pin_team(result.message, access.home_teams)
    if not access.allows(message):
        logger.info("sender_refused", platform=name, entry=entry_for(message))
        return _refuse(message, result.refusal, now=now)
    queues.chat_queue().send(message)
    logger.info("message_received", platform=name)
    return result.reply


def _refuse(
    message: Message, refusal: RefusalResponse | None, *, now: datetime
) -> Mapping[str, Any] | None:
    """Return the response to a stranger. It needs neither the queue nor a table."""
    if refusal is None:
        return None
    if refusal.is_limited and not chat_access.refusal_limiter().may_reply(message, now=now):
        return None
    return refusal.make_body(refusal_text(message, chat_access.chat_settings().access))


def _response(status: int, content_type: str, body: Mapping[str, Any] | None) -> dict[str, Any]:
    """Build the response. The body is empty for None: Slack shows any other body to the sender."""
    if body is None:
        return {"statusCode": int(status), "body": ""}
    headers = {"content-type": content_type}
    return {"statusCode": int(status), "headers": headers, "body": json.dumps(body)}
