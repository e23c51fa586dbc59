"""Runs the operations of people and programs, and remembers what they were promised."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from http import HTTPStatus
from typing import Any

from duecourse.domain.limits.budget import parse_micros

from local.runtime.api_gateway import Gateway, Request
from local.runtime.stack import DEFAULT_TOKEN
from local.simulate.listener import Listener

MAX_TRIES = 4
MUTE_COMMAND = "/notify none"
MAX_CANCEL_TRIES = 200
_RETRY_SECONDS = 2.0


@dataclass(frozen=True)
class Answer:
    """`request` is the body of the request, which was sent at `asked_at` and answered at `at`."""

    method: str
    target: str
    status: int
    body: Any
    was_struck: bool
    request: Any = None
    asked_at: datetime | None = None
    at: datetime | None = None

    @property
    def is_success(self) -> bool:
        return self.status < HTTPStatus.MULTIPLE_CHOICES


@dataclass(frozen=True)
class Created:
    """A task that the API accepted. `request` is what was asked for."""

    number: int
    id: str
    sender: str
    request: dict[str, Any]


@dataclass(frozen=True)
class LimitSet:
    """A limit of a budget, in micro-dollars, that the API acknowledged at `at`."""

    budget: str
    limit: int
    asked_at: datetime
    at: datetime


@dataclass
class Actor:
    """`count_struck` returns how many calls faults have hit so far.

    `send_message` puts a text into a queue, named by its logical id. `dead_letter_next` lets the
    next message to a queue be a dead letter.

    `sent` is what the channels sent. `cancelled`: when the API acknowledged a cancellation, for
    tasks of which it did. `forgotten`: senders whose tasks may be gone. `muted`: senders who
    wanted no notifications at some time. `message_counts`: of accepted messages in chat, by sender.
    `own_answers`: of one operation alone; the copies of an actor share all else.
    """

    gateway: Gateway
    count_struck: Callable[[], int]
    redeploy: Callable[[], None]
    record: Callable[[str], None]
    now: Callable[[], datetime]
    new_listener: Callable[[], Listener]
    send_message: Callable[[str, str], None]
    dead_letter_next: Callable[[str], None]
    answers: list[Answer] = field(default_factory=list)
    said_texts: list[str] = field(default_factory=list)
    created: dict[int, Created] = field(default_factory=dict)
    deleted: set[str] = field(default_factory=set)
    possibly_deleted: set[str] = field(default_factory=set)
    sent: Sequence[Any] = ()
    cancelled: dict[str, datetime] = field(default_factory=dict)
    forgotten: set[str] = field(default_factory=set)
    muted: set[str] = field(default_factory=set)
    message_counts: Counter[str] = field(default_factory=Counter)
    limits_set: list[LimitSet] = field(default_factory=list)
    own_answers: list[Answer] = field(default_factory=list)
    listeners: list[Listener] = field(default_factory=list)

    def copy_for_operation(self) -> Actor:
        return replace(self, own_answers=[])

    def note_success(self, action: str) -> None:
        """Note that something succeeded that is no request over HTTP."""
        self.own_answers.append(Answer(action, "", HTTPStatus.OK, None, was_struck=False))

    def call(self, method: str, target: str, body: Any = None, *, key: str = "") -> Answer:
        headers = {"content-type": "application/json", "authorization": f"Bearer {DEFAULT_TOKEN}"}
        if key:
            headers["idempotency-key"] = key
        raw = b"" if body is None else json.dumps(body).encode()
        before, asked_at = self.count_struck(), self.now()
        reply = self.gateway.handle(Request(method, target, headers, raw, "127.0.0.1"))
        parsed = json.loads(reply.body) if reply.body else None
        was_struck = self.count_struck() > before
        answer = Answer(
            method, target, reply.status, parsed, was_struck, body, asked_at, self.now()
        )
        self.record(f"{method} {target} {reply.status}{_find_reason(answer)}")
        self.answers.append(answer)
        self.own_answers.append(answer)
        return answer

    def create(self, number: int, fields: dict[str, Any], *, sender: str) -> None:
        """Create a task, and repeat the request with the same key until it is answered."""
        request = {
            "description": f"task {number}",
            **{"sender_id": sender, "reply_target": sender, "channel": "console"},
            **fields,
        }
        for _ in range(MAX_TRIES):
            answer = self.call("POST", "/tasks", request, key=f"task-{number}")
            if answer.status in (HTTPStatus.CREATED, HTTPStatus.OK):
                self.created[number] = Created(number, answer.body["id"], sender, request)
                return
            if answer.status < HTTPStatus.INTERNAL_SERVER_ERROR:
                return
            time.sleep(_RETRY_SECONDS)

    def say(self, text: str, *, sender: str) -> None:
        if text == MUTE_COMMAND:
            self.muted.add(sender)
        message = {"sender_id": sender, "reply_target": sender, "text": text}
        self.said_texts.append(text)
        if self.call("POST", "/webhooks/console", message).status == HTTPStatus.OK:
            self.message_counts[sender] += 1

    def has_series(self) -> bool:
        return any("repeat" in one.request for one in self.created.values())

    def set_limit(self, budget: str, dollars: float) -> None:
        asked_at = self.now()
        answer = self.call("PUT", f"/budgets/{budget}", {"limit": dollars})
        if answer.status == HTTPStatus.OK:
            limit = LimitSet(budget, parse_micros(dollars), asked_at, self.now())
            self.limits_set.append(limit)

    def make_listener(self) -> Listener:
        listener = self.new_listener()
        self.listeners.append(listener)
        return listener

    def cancel_series(self, is_kept: Callable[[Created], bool]) -> None:
        """Cancel every series but those, until it is cancelled: a running one cannot be."""
        for one in self.created.values():
            is_series = "repeat" in one.request and one.id not in self.deleted
            if is_series and not is_kept(one):
                self._cancel_when_idle(one.id)

    def _cancel_when_idle(self, task_id: str) -> None:
        for _ in range(MAX_CANCEL_TRIES):
            if self.call("POST", f"/tasks/{task_id}/cancel").status != HTTPStatus.CONFLICT:
                return
            if self.call("GET", f"/tasks/{task_id}").body["status"] != "in_progress":
                return
            time.sleep(_RETRY_SECONDS)

    def task_id(self, number: int) -> str | None:
        found = self.created.get(number)
        return None if found is None or found.id in self.deleted else found.id

    def sender_of(self, number: int) -> str:
        return self.created[number].sender

    def note_cancelled(self, task_id: str, answer: Answer) -> None:
        if answer.status == HTTPStatus.OK:
            self.cancelled.setdefault(task_id, self.now())

    def note_deleted(self, task_id: str, answer: Answer) -> None:
        if answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            self.possibly_deleted.add(task_id)
        elif answer.status < HTTPStatus.BAD_REQUEST:
            self.deleted.add(task_id)


def _find_reason(answer: Answer) -> str:
    """Return why a request was refused, as the answer says."""
    if answer.status < HTTPStatus.BAD_REQUEST or not isinstance(answer.body, dict):
        return ""
    reason = answer.body.get("detail") or answer.body.get("title") or answer.body.get("message")
    return f": {reason}" if reason else ""
