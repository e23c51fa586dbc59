"""A rule on the stack's event bus, with a queue that receives the matching events."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from local.runtime import aws_clients
from local.runtime.template import ACCOUNT, REGION

BUS = "duecourse"
EVERYTHING = {"source": ["duecourse"]}


class BusListener:
    """Collects the messages of EventBridge in the order of arrival."""

    def __init__(self, pattern: Mapping[str, Any] = EVERYTHING, *, name: str = "listener") -> None:
        self._url = aws_clients.client("sqs").create_queue(QueueName=name)["QueueUrl"]
        self._received: list[dict[str, Any]] = []
        events = aws_clients.client("events")
        events.put_rule(Name=name, EventBusName=BUS, EventPattern=json.dumps(pattern))
        arn = f"arn:aws:sqs:{REGION}:{ACCOUNT}:{name}"
        events.put_targets(Rule=name, EventBusName=BUS, Targets=[{"Id": name, "Arn": arn}])

    def messages(self) -> list[dict[str, Any]]:
        sqs = aws_clients.client("sqs")
        while batch := sqs.receive_message(QueueUrl=self._url, MaxNumberOfMessages=10).get(
            "Messages"
        ):
            for message in batch:
                self._received.append(json.loads(message["Body"]))
                sqs.delete_message(QueueUrl=self._url, ReceiptHandle=message["ReceiptHandle"])
        return self._received

    def events(self, task_id: str | None = None) -> list[dict[str, Any]]:
        """Return the events (of the task): {"type","task_id","at","detail"}."""
        events = [message["detail"] for message in self.messages()]
        return [one for one in events if task_id is None or one["task_id"] == task_id]

    def types(self, task_id: str | None = None) -> list[str]:
        return [event["type"] for event in self.events(task_id)]

    def clear(self) -> None:
        self.messages()
        self._received.clear()
