"""Notifications that SQS refused: each has to be sent again."""

from __future__ import annotations

import json
from typing import Any

from local.runtime.call_interceptor import Call

QUEUE = "NoticesQueue"


class RefusedNotifications:
    """`outcomes` says of each notification that was refused once whether it was accepted later.

    They are named by their idempotency key and the chat.
    """

    def __init__(self) -> None:
        self.outcomes: dict[tuple[str, str], bool] = {}

    def note_call(self, call: Call) -> None:
        if call.operation != "SendMessageBatch" or not call.body["QueueUrl"].endswith(QUEUE):
            return
        refused = {one["Id"] for one in call.reply.get("Failed", ())}
        for entry in call.body["Entries"]:
            name = _name(entry)
            if entry["Id"] in refused or name in self.outcomes:
                self.outcomes[name] = entry["Id"] not in refused


def _name(entry: dict[str, Any]) -> tuple[str, str]:
    notification = json.loads(entry["MessageBody"])
    return notification["key"], notification["target"]
