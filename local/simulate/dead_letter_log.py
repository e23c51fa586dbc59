"""The dead letters that were stored, and what requests sent back to the queues."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime

from local.runtime.call_interceptor import Call
from local.testing.lean_aws.queue import Message, Queue
from local.testing.lean_aws.sqs import Sqs
from local.testing.lean_aws.table import Table
from local.testing.lean_aws.values import Item

_PARTITION = {"S": "dead-letters"}
_OF_REPLY = '"key": "reply:'


@dataclass(frozen=True)
class StoredLetter:
    queue: str
    body: str


class DeadLetterLog:
    """`letters` by id, also those that are gone. `sent`: bodies that the API sent, with times."""

    def __init__(self) -> None:
        self.letters: dict[str, StoredLetter] = {}
        self.sent: list[tuple[datetime, str]] = []

    def watch(self, journal: Table) -> None:
        journal.on_write = self._note_write

    def note_call(self, call: Call, at: datetime) -> None:
        if call.operation == "SendMessage":
            self.sent.append((at, call.body["MessageBody"]))

    def _note_write(self, _old: Item | None, new: Item | None) -> None:
        if new is not None and new["task_id"] == _PARTITION:
            letter = json.loads(new["detail"]["S"])
            self.letters[letter["id"]] = StoredLetter(letter["queue"], letter["body"])


def dead_letter_next(sqs: Sqs, name: str) -> None:
    """Let the next message to the queue be a dead letter, as after too many receives.

    A reply in chat is left alone.
    """
    queue = sqs.queue(name)
    dead = next(one for one in sqs.queues.values() if one.arn == queue.dead_letter_arn)

    def add(message: Message) -> Message:
        if _OF_REPLY in message.body:
            return Queue.add(queue, message)
        vars(queue).pop("add", None)
        dead.messages.append(message)
        return message

    vars(queue)["add"] = add
