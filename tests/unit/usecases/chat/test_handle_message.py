"""A message is handled once and answered, despite crashes and failed sends."""

from __future__ import annotations

from datetime import datetime

import pytest
from duecourse.domain.chat.chat_message import ChatMessage
from duecourse.domain.chat.message import Message
from duecourse.domain.chat.stored_reply import StoredReply
from duecourse.domain.errors import RecipientGoneError
from duecourse.domain.tasks.task import Task
from duecourse.usecases.chat.handle_message import ReplyDeps, ReplyOutcome, handle_message

from tests.support.builders.chat import a_message
from tests.support.builders.moments import NOW
from tests.support.chat_harness import ChatHarness
from tests.support.fakes.chat import MemoryReplyStore
from tests.support.fakes.queues import ListNotifications

REMIND = a_message("/remind in 10 minutes tea")


class CrashError(Exception):
    pass


class FailingReplyStore(MemoryReplyStore):
    def __init__(self) -> None:
        super().__init__()
        self.writes_until_it_breaks = 100

    def save(self, message: Message, reply: StoredReply) -> None:
        if not self.writes_until_it_breaks:
            raise CrashError
        self.writes_until_it_breaks -= 1
        super().save(message, reply)


class Platform:
    def __init__(self) -> None:
        self.told: list[str] = []
        self.is_down = False
        self.is_gone = False

    def send(self, target: str, content: ChatMessage, *, idempotency_key: str) -> None:
        raise NotImplementedError

    def reply(self, message: Message, content: ChatMessage) -> None:  # noqa: ARG002
        if self.is_gone:
            raise RecipientGoneError("console", "left")
        if self.is_down:
            raise CrashError
        self.told.append(content.text)


class Chat:
    def __init__(self) -> None:
        self._harness = ChatHarness()
        self.answers = FailingReplyStore()
        self.platform = Platform()
        self.notifications = ListNotifications()

    @property
    def tasks(self) -> list[Task]:
        return list(self._harness.store.tasks.values())

    def parse(self, message: Message = REMIND, *, now: datetime = NOW) -> ReplyOutcome:
        deps = ReplyDeps(self.platform, self.answers, self.notifications)
        return handle_message(message, self._harness.context, deps, now=now).outcome


def test_a_message_is_handled_and_answered() -> None:
    chat = Chat()

    assert chat.parse() is ReplyOutcome.REPLIED
    assert [task.description for task in chat.tasks] == ["tea"]
    [reply] = chat.platform.told
    assert "late" not in reply


def test_a_message_delivered_four_times_is_answered_once() -> None:
    chat = Chat()

    assert [chat.parse() for _ in range(4)] == [
        ReplyOutcome.REPLIED,
        *[ReplyOutcome.DUPLICATE] * 3,
    ]
    assert len(chat.tasks) == len(chat.platform.told) == 1


def test_two_messages_with_the_same_text_are_handled_separately() -> None:
    chat = Chat()
    chat.parse()
    chat.parse(a_message(REMIND.text, dedup_key="message-2"))

    assert len(chat.tasks) == len(chat.platform.told) == 2


def test_a_failed_reply_is_left_to_the_notification_queue() -> None:
    chat = Chat()
    chat.platform.is_down = True

    assert chat.parse() is ReplyOutcome.DEFERRED
    assert len(chat.tasks) == 1
    [notification] = chat.notifications
    assert notification.reply_to == REMIND
    assert notification.message.text.startswith("Reminder")
    assert chat.parse() is ReplyOutcome.DUPLICATE
    assert len(chat.tasks) == len(chat.notifications) == 1


def test_a_recipient_who_is_gone_gets_no_late_reply() -> None:
    chat = Chat()
    chat.platform.is_gone = True
    with pytest.raises(RecipientGoneError):
        chat.parse()
    assert (len(chat.tasks), chat.notifications) == (1, [])


@pytest.mark.parametrize("written", [0, 1])
def test_a_crash_at_any_write_leaves_one_task_and_one_reply(written: int) -> None:
    chat = Chat()
    chat.answers.writes_until_it_breaks = written
    with pytest.raises(CrashError):
        chat.parse()
    chat.answers.writes_until_it_breaks = 100
    chat.parse()

    assert len(chat.tasks) == 1
    # If only the note that it was delivered is lost, it is delivered once more.
    assert (len(chat.platform.told), len(chat.notifications)) == (1, written)
