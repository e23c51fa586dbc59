"""A message is acted on once and answered, whatever is lost on the way."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from duecourse.domain.chat.chat_message import ChatMessage
from duecourse.domain.chat.message import Message
from duecourse.domain.chat.stored_reply import StoredReply
from duecourse.domain.tasks.task import Task
from duecourse.usecases.chat.handle_message import handle_message

from tests.support.builders.chat import a_message
from tests.support.builders.moments import NOW
from tests.support.chat_harness import ChatHarness
from tests.support.fakes.chat import MemoryReplyStore

REMIND = a_message("/remind in 10 minutes tea")


class LostError(Exception):
    pass


class BreakingAnswers(MemoryReplyStore):
    def __init__(self) -> None:
        super().__init__()
        self.writes_until_it_breaks = 100

    def save(self, message: Message, reply: StoredReply) -> None:
        if not self.writes_until_it_breaks:
            raise LostError
        self.writes_until_it_breaks -= 1
        super().save(message, reply)


class Platform:
    def __init__(self) -> None:
        self.told: list[str] = []
        self.is_down = False

    def send(self, target: str, content: ChatMessage, *, idempotency_key: str) -> None:
        raise NotImplementedError

    def reply(self, message: Message, content: ChatMessage) -> None:  # noqa: ARG002
        if self.is_down:
            raise LostError
        self.told.append(content.text)


class Chat:
    def __init__(self) -> None:
        self._harness = ChatHarness()
        self.answers = BreakingAnswers()
        self.platform = Platform()

    @property
    def tasks(self) -> list[Task]:
        return list(self._harness.store.tasks.values())

    def parse(self, message: Message = REMIND, *, now: datetime = NOW) -> bool:
        return handle_message(message, self._harness.context, self.platform, self.answers, now=now)


def test_a_message_is_acted_on_and_answered() -> None:
    chat = Chat()

    assert chat.parse()
    assert [task.description for task in chat.tasks] == ["tea"]
    [told] = chat.platform.told
    assert "late" not in told


def test_a_message_delivered_four_times_is_answered_once() -> None:
    chat = Chat()

    assert [chat.parse() for _ in range(4)] == [True, False, False, False]
    assert len(chat.tasks) == len(chat.platform.told) == 1


def test_two_messages_with_the_same_words_are_two() -> None:
    chat = Chat()
    chat.parse()
    chat.parse(a_message(REMIND.text, dedup_key="message-2"))

    assert len(chat.tasks) == len(chat.platform.told) == 2


def test_an_answer_that_did_not_get_through_is_told_again_and_nothing_is_done_again() -> None:
    chat = Chat()
    chat.platform.is_down = True
    with pytest.raises(LostError):
        chat.parse()
    [task] = chat.tasks
    chat.platform.is_down = False

    assert chat.parse()
    assert chat.tasks == [task]
    assert len(chat.platform.told) == 1


@pytest.mark.parametrize(("later", "is_late"), [(59, False), (60, True)])
def test_an_answer_that_is_told_late_says_so(later: int, is_late: bool) -> None:
    chat = Chat()
    chat.platform.is_down = True
    with pytest.raises(LostError):
        chat.parse()
    chat.platform.is_down = False

    assert chat.parse(now=REMIND.sent_at + timedelta(seconds=later))
    [told] = chat.platform.told
    assert ("This reply is late. You wrote on" in told) is is_late


@pytest.mark.parametrize("written", [0, 1])
def test_a_crash_at_any_write_leaves_one_task_and_an_answer(written: int) -> None:
    chat = Chat()
    chat.answers.writes_until_it_breaks = written
    with pytest.raises(LostError):
        chat.parse()
    chat.answers.writes_until_it_breaks = 100
    chat.parse()

    assert len(chat.tasks) == 1
    # Where only the note that it was told is lost, it is told once more.
    assert len(chat.platform.told) == 1 + written
    assert all(told.startswith(chat.platform.told[0]) for told in chat.platform.told)
