"""Chat in: verified, read, put into the inbox and acknowledged. The answer comes later."""

from __future__ import annotations

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.typing import LambdaContext
from duecourse.adapters.channels.inbound import Heard
from duecourse.adapters.http.problem import CONTENT_TYPE, problem_of
from duecourse.adapters.http.raw_request import RawRequest
from duecourse.adapters.http.request_errors import (
    NotVerifiedError,
    TooLargeError,
    UnknownPlatformError,
)
from duecourse.app import registry, stores
from duecourse.domain.errors import InvalidFieldsError

LONGEST_NAME = 20
logger = Logger(service="webhook")


@logger.inject_lambda_context
def handler(event: dict[str, Any], _context: LambdaContext) -> dict[str, Any]:
    name = str((event.get("pathParameters") or {}).get("platform"))
    try:
        heard = _hear(name, event)
    except (UnknownPlatformError, TooLargeError, NotVerifiedError, InvalidFieldsError) as error:
        logger.info("refused", platform=name[:LONGEST_NAME], reason=str(error))
        body = problem_of(error)
        return _reply(body["status"], CONTENT_TYPE, body)
    logger.info("heard" if heard.message else "acknowledged", platform=name)
    return _reply(HTTPStatus.OK, "application/json", heard.reply)


def _hear(name: str, event: dict[str, Any]) -> Heard:
    heard = registry.incoming(name).hear(RawRequest.from_event(event), now=stores.clock().now())
    if name not in registry.channels():  # nobody could be answered there
        raise UnknownPlatformError
    if heard.message is not None:
        stores.inbox().put(heard.message)
    return heard


def _reply(status: int, kind: str, body: Mapping[str, Any] | None) -> dict[str, Any]:
    """An empty body where there is nothing to say: Slack would show any other to the sender."""
    if body is None:
        return {"statusCode": int(status), "body": ""}
    headers = {"content-type": kind}
    return {"statusCode": int(status), "headers": headers, "body": json.dumps(body)}
