"""What somebody said, as it travels and as it may be kept."""

from __future__ import annotations

from typing import Any

import pytest
from duecourse.domain.chat.chat_message import Button, ChatMessage
from duecourse.domain.chat.message import Message

from tests.support.builders.chat import a_message

SECRET = {"interaction_token": "opens doors"}


@pytest.mark.parametrize(
    "message",
    [
        a_message(),
        a_message("tea\n\u2028\x00", locale="de-CH"),
        a_message(reply_context=SECRET, dedup_key="C1:1712.0001"),
        a_message(is_private=False),
    ],
)
def test_a_message_travels_whole(message: Message) -> None:
    assert Message.from_json(message.to_json()) == message


def test_a_message_from_before_privacy_was_told_is_private() -> None:
    stored = a_message(is_private=False).to_json()
    assert not Message.from_json({**stored, "is_private": "yes"}).is_private
    del stored["is_private"]
    assert Message.from_json(stored).is_private


@pytest.mark.parametrize("name", ["channel", "sender_id", "reply_target", "text", "key", "at"])
@pytest.mark.parametrize("value", [None, 5, [], {"a": 1}])
def test_what_is_no_message_is_refused(name: str, value: Any) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - which of several words does not matter
        Message.from_json({**a_message().to_json(), name: value})


@pytest.mark.parametrize("stored", [None, [], "text", 5, {}])
def test_what_is_no_object_is_refused(stored: Any) -> None:
    with pytest.raises(ValueError, match="not a message"):
        Message.from_json(stored)


def test_the_same_message_makes_the_same_task_and_another_sender_cannot_make_it() -> None:
    assert a_message(dedup_key="1").task_id == a_message("other words", dedup_key="1").task_id
    assert a_message(dedup_key="1").task_id != a_message(dedup_key="2").task_id
    assert a_message(dedup_key="1").task_id != a_message(dedup_key="1", channel="slack").task_id


def test_what_opens_doors_is_neither_shown_nor_kept() -> None:
    message = a_message(reply_context=SECRET)

    assert "opens doors" not in repr(message)
    assert message.without_reply_context().reply_context == {}


def test_a_saying_travels_whole() -> None:
    saying = ChatMessage(
        "Reminder: tea", (Button("Done", "/done 1"), Button("1 h", "/snooze 1 1h"))
    )

    assert ChatMessage.from_json(saying.to_json()) == saying
    assert ChatMessage.from_json({"text": "from before there were buttons"}).buttons == ()


@pytest.mark.parametrize(
    "stored",
    [
        None,
        {},
        {"text": ""},
        {"text": 5},
        {"text": "a", "buttons": {}},
        {"text": "a", "buttons": ["b"]},
        {"text": "a", "buttons": [{"label": "b"}]},
        {"text": "a", "buttons": [{"label": "b", "says": 5}]},
    ],
)
def test_what_is_no_saying_is_refused(stored: Any) -> None:
    with pytest.raises(ValueError, match="not a"):
        ChatMessage.from_json(stored)
