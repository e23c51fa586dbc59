"""Receives chat webhooks: verifies, parses, enqueues and acknowledges. The reply comes later."""

from __future__ import annotations

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.typing import LambdaContext
from duecourse.adapters.channels.inbound import InboundResult
from duecourse.adapters.http.problem import CONTENT_TYPE, problem_from_error
from duecourse.adapters.http.raw_request import RawRequest
from duecourse.adapters.http.request_errors import (
    NotVerifiedError,
    TooLargeError,
    UnknownPlatformError,
)
from duecourse.app import queues, registry, stores
from duecourse.domain.errors import InvalidFieldsError

MAX_PLATFORM_LENGTH = 20
logger = Logger(service="webhook")


@logger.inject_lambda_context
def handler(event: dict[str, Any], _context: LambdaContext) -> dict[str, Any]:
    name = str((event.get("pathParameters") or {}).get("platform"))
    try:
        result = _receive(name, event)
    except (UnknownPlatformError, TooLargeError, NotVerifiedError, InvalidFieldsError) as error:
        logger.info("webhook_refused", platform=name[:MAX_PLATFORM_LENGTH], reason=str(error))
        body = problem_from_error(error)
        return _response(body["status"], CONTENT_TYPE, body)
    logger.info("message_received" if result.message else "acknowledged", platform=name)
    return _response(HTTPStatus.OK, "application/json", result.reply)


def _receive(name: str, event: dict[str, Any]) -> InboundResult:
    result = registry.inbound_parser(name).parse(
        RawRequest.from_event(event), now=stores.clock().now()
    )
    if name not in registry.channels():  # no channel to reply through
        raise UnknownPlatformError
    if result.message is not None:
        queues.chat_queue().send(result.message)
    return result


def _response(status: int, content_type: str, body: Mapping[str, Any] | None) -> dict[str, Any]:
    """Build the response. The body is empty for None: Slack shows any other body to the sender."""
    if body is None:
        return {"statusCode": int(status), "body": ""}
    headers = {"content-type": content_type}
    return {"statusCode": int(status), "headers": headers, "body": json.dumps(body)}
