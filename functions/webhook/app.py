"""Chat in: verified, read, put into the inbox and acknowledged. The answer comes later."""

from __future__ import annotations

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.typing import LambdaContext
from duecourse import parts
from duecourse.adapters.chat.incoming import Heard, NotVerifiedError
from duecourse.adapters.http.problem import CONTENT_TYPE, problem, problem_of
from duecourse.adapters.http.raw_request import RawRequest, TooLargeError
from duecourse.domain.errors import DuecourseError, InvalidFieldsError

from .platforms import is_offered, platform_named

LONGEST_NAME = 20
logger = Logger(service="webhook")


class UnknownPlatformError(DuecourseError):
    def __init__(self) -> None:
        super().__init__("this platform is not set up here")


@logger.inject_lambda_context
def handler(event: dict[str, Any], _context: LambdaContext) -> dict[str, Any]:
    name = str((event.get("pathParameters") or {}).get("platform"))
    try:
        heard = _hear(name, event)
    except (UnknownPlatformError, TooLargeError, NotVerifiedError, InvalidFieldsError) as error:
        logger.info("refused", platform=name[:LONGEST_NAME], reason=str(error))
        body = _problem(error)
        return _reply(body["status"], CONTENT_TYPE, body)
    logger.info("heard" if heard.message else "acknowledged", platform=name)
    return _reply(HTTPStatus.OK, "application/json", heard.reply)


def _hear(name: str, event: dict[str, Any]) -> Heard:
    platform = platform_named(name)
    if platform is None:
        raise UnknownPlatformError
    heard = platform.hear(RawRequest.from_event(event), now=parts.clock().now())
    if not is_offered(name):
        raise UnknownPlatformError
    if heard.message is not None:
        parts.inbox().put(heard.message)
    return heard


def _problem(error: DuecourseError) -> dict[str, Any]:
    match error:
        case UnknownPlatformError():
            return problem(HTTPStatus.NOT_FOUND, str(error))
        case TooLargeError():
            return problem(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, str(error))
        case NotVerifiedError():
            return problem(HTTPStatus.UNAUTHORIZED, "whoever sent this did not prove who they are")
    return problem_of(error)


def _reply(status: int, kind: str, body: Mapping[str, Any] | None) -> dict[str, Any]:
    """An empty body where there is nothing to say: Slack would show any other to the sender."""
    if body is None:
        return {"statusCode": int(status), "body": ""}
    return {
        "statusCode": int(status),
        "headers": {"content-type": kind},
        "body": json.dumps(body),
    }
