"""Whom a dead letter is about, whatever its body looks like."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from duecourse.domain.chat.chat_message import ChatMessage
from duecourse.domain.chat.notification import Notification
from duecourse.domain.chat.personal_letter import LetterSubjects, find_subjects
from duecourse.domain.chat.undeliverable import undeliverable_notification
from duecourse.domain.dispatch.dead_letter import DeadLetter, Queue
from duecourse.domain.tasks.owner import Owner

from tests.support.builders.chat import a_message
from tests.support.builders.moments import NOW
from tests.support.builders.tasks import ID

ADA, BOB = Owner("console", "ada"), Owner("console", "bob")
MESSAGE = a_message("/remind in 1h tea", channel="console", sender_id="ada")
NOTIFICATION = Notification(
    channel="console",
    target="a-group",
    message=ChatMessage("Done: tea"),
    idempotency_key="k",
    task_id=ID,
    sender_id="ada",
)


def subjects_of(queue: Queue, body: Any, **fields: Any) -> LetterSubjects:
    text = body if isinstance(body, str) else json.dumps(body)
    return find_subjects(DeadLetter(id="x", queue=queue, body=text, sent_at=NOW, **fields))


def test_a_message_names_its_sender_and_the_task_it_creates() -> None:
    found = subjects_of(Queue.CHAT, MESSAGE.to_json())
    assert found == LetterSubjects(frozenset({ADA}), frozenset({MESSAGE.task_id}))


def test_a_notification_names_its_owner_and_its_task() -> None:
    found = subjects_of(Queue.NOTIFICATIONS, NOTIFICATION.to_json())
    assert found == LetterSubjects(frozenset({ADA}), frozenset({ID}))


def test_a_reply_names_whom_it_replies_to() -> None:
    reply = replace(NOTIFICATION, sender_id=None, reply_to=MESSAGE)
    assert ADA in subjects_of(Queue.NOTIFICATIONS, reply.to_json()).owners


def test_a_notification_without_owner_names_its_target() -> None:
    body = undeliverable_notification(replace(MESSAGE, reply_target="bob")).to_json()
    found = subjects_of(Queue.NOTIFICATIONS, body)
    assert found == LetterSubjects(frozenset({BOB}), frozenset({MESSAGE.task_id}))


@pytest.mark.parametrize("queue", [Queue.WORK, Queue.SLOW_WORK, Queue.FAILURES, Queue.JOURNAL])
def test_another_letter_names_its_task(queue: Queue) -> None:
    found = subjects_of(queue, MESSAGE.to_json(), task_id=ID)
    assert found == LetterSubjects(task_ids=frozenset({ID}))


def test_a_cut_message_names_its_sender() -> None:
    body = json.dumps(replace(MESSAGE, text="x" * 5_000).to_json())[:1_000]
    assert subjects_of(Queue.CHAT, body, is_truncated=True).owners == {ADA}


def test_a_cut_message_that_quotes_another_sender_is_not_about_them() -> None:
    text = json.dumps({"sender_id": "bob", "channel": "console"}) + "x" * 5_000
    fields = replace(MESSAGE, text=text).to_json()
    body = json.dumps({"text": fields.pop("text"), **fields})
    assert subjects_of(Queue.CHAT, body[:1_000]).owners == set()
    assert subjects_of(Queue.CHAT, body[:-1]).owners <= {ADA}


def test_a_cut_notification_names_its_owner() -> None:
    long = replace(NOTIFICATION, message=ChatMessage("x" * 5_000))
    assert subjects_of(Queue.NOTIFICATIONS, json.dumps(long.to_json())[:1_000]).owners == {ADA}


@pytest.mark.parametrize("queue", [Queue.CHAT, Queue.NOTIFICATIONS])
@pytest.mark.parametrize(
    "body",
    [
        "",
        "null",
        "[]",
        "7",
        "[" * 100_000,
        '{"channel": 1, "sender_id": {}, "key": []}',
        '{"reply_to": "ada"}',
        '"channel": "\\x", "sender_id": "\\ud800',
        '"channel":"' * 20_000,
    ],
)
def test_any_other_body_names_nobody(queue: Queue, body: str) -> None:
    assert subjects_of(queue, body) == LetterSubjects()
