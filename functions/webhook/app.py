"""Chat in. The console is the only platform so far, and exists on the laptop only."""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.typing import LambdaContext
from duecourse import offered, parts, wiring
from duecourse.adapters.http.problem import CONTENT_TYPE, problem, problem_of
from duecourse.domain.errors import InvalidFieldsError
from duecourse.usecases.answer_command import Sender, answer_command

from .console import read_message

logger = Logger(service="webhook")


@logger.inject_lambda_context
def handler(event: dict[str, Any], _context: LambdaContext) -> dict[str, Any]:
    platform = event.get("pathParameters", {}).get("platform")
    if platform != "console" or platform not in offered.channels():
        return _refusal(problem(HTTPStatus.NOT_FOUND, "this platform is not set up here"))
    try:
        sender, text = read_message(event)
    except InvalidFieldsError as error:
        return _refusal(problem_of(error))
    _answer(sender, text)
    return _reply(HTTPStatus.OK, "application/json", {"status": "answered"})


def _answer(sender: Sender, text: str) -> None:
    task_id = parts.new_id()
    now = parts.clock().now()
    answer = answer_command(text, sender, wiring.chat_desk(), task_id=task_id, now=now)
    offered.channels()[sender.channel].send(sender.reply_target, answer, key=task_id)
    logger.info("answered", channel=sender.channel)


def _refusal(body: dict[str, Any]) -> dict[str, Any]:
    return _reply(body["status"], CONTENT_TYPE, body)


def _reply(status: int, kind: str, body: dict[str, Any]) -> dict[str, Any]:
    return {
        "statusCode": int(status),
        "headers": {"content-type": kind},
        "body": json.dumps(body),
    }
