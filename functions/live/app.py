"""The WebSocket API: accepts connections, answers their messages and sends live events.

Events are never logged, whatever the environment says, because they contain tokens.
"""

from __future__ import annotations

from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.utilities.typing import LambdaContext
from duecourse.adapters.runtime.unreadable_items import reports_unreadable
from duecourse.app import stores
from duecourse.usecases.events.handle_client_message import handle_client_message

from .broadcast import broadcast_records
from .connect import authorize

logger = Logger(service="live")
metrics = Metrics(service="live")


@logger.inject_lambda_context(log_event=False)
@reports_unreadable(logger, metrics, has_to_flush=True)
def handler(event: dict[str, Any], _context: LambdaContext) -> dict[str, Any]:
    if "Records" in event:
        broadcast_records(event["Records"])
        return {"batchItemFailures": []}
    # The route key is no help: a client may send {"action": "$connect"}.
    match event["requestContext"]["eventType"]:
        case "CONNECT":
            return authorize(event)
        case "DISCONNECT":
            stores.connections().remove(event["requestContext"]["connectionId"])
            return {"statusCode": 200}
        case _:
            return _handle_message(event)


def _handle_message(event: dict[str, Any]) -> dict[str, Any]:
    # A binary message arrives as base64, which is no JSON and gets an error reply.
    answer = handle_client_message(
        event["requestContext"]["connectionId"],
        event.get("body") or "",
        connections=stores.connections(),
    )
    return {"statusCode": 200, "body": answer}
