"""Opens one ticket for each event of a task that needs a person, however often the event comes."""

from __future__ import annotations

import json
import os
from typing import Any
from urllib.request import Request, urlopen

from aws_lambda_powertools.utilities.idempotency import (
    DynamoDBPersistenceLayer,
    IdempotencyConfig,
    idempotent,
)
from aws_lambda_powertools.utilities.typing import LambdaContext

ONE_WEEK = 7 * 24 * 3600

seen_events = DynamoDBPersistenceLayer(table_name=os.environ["SEEN_TABLE"])
by_event_id = IdempotencyConfig(
    event_key_jmespath="detail.detail.event_id",
    raise_on_no_idempotency_key=True,
    expires_after_seconds=ONE_WEEK,
)


@idempotent(persistence_store=seen_events, config=by_event_id)
def handler(event: dict[str, Any], _context: LambdaContext) -> dict[str, str]:
    """Open a ticket. If that fails, the exception makes Lambda retry the event."""
    message = event["detail"]
    body = json.dumps(build_ticket(message)).encode()
    headers = {"Content-Type": "application/json"}
    request = Request(os.environ["TICKETS_URL"], body, headers)  # noqa: S310 - the team's own
    urlopen(request, timeout=10).close()  # noqa: S310
    return {"opened_for": message["task_id"]}


def build_ticket(message: dict[str, Any]) -> dict[str, str]:
    detail = message["detail"]
    source = f"{message['type']} at {message['at']}, run {detail['run_id']}"
    return {
        "title": f"Task {message['task_id'][:8]} needs a person ({detail['category']})",
        "text": f"{detail['error']}\n\n{source}",
    }
