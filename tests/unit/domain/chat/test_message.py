"""The JSON of inbound and outbound chat messages."""

from __future__ import annotations

from typing import Any

import pytest
from duecourse.domain.chat.chat_message import Button, ChatMessage
from duecourse.domain.chat.message import Message

from tests.support.builders.chat import a_message

SECRET = {"interaction_token": "secret-token"}


@pytest.mark.parametrize(
    "message",
    [
        a_message(),
        a_message("tea\n\u2028\x00", locale="de-CH"),
        a_message(reply_context=SECRET, dedup_key="C1:1712.0001"),
        a_message(is_private=False),
        a_message(team="T1", sender_id="T1:U1", source_chat="C1"),
        a_message(private_target="user:7"),
    ],
)
def test_a_message_round_trips_through_json(message: Message) -> None:
    assert Message.from_json(message.to_json()) == message


def test_a_message_queued_by_an_earlier_version_has_no_team() -> None:
    stored = a_message(team="T1").to_json()
    del stored["team"]
    assert Message.from_json(stored).team is None
    assert Message.from_json({**stored, "team": 5}).team is None


def test_a_message_without_is_private_is_private() -> None:
    stored = a_message(is_private=False).to_json()
    assert not Message.from_json({**stored, "is_private": "yes"}).is_private
    del stored["is_private"]
    assert Message.from_json(stored).is_private


@pytest.mark.parametrize("name", ["channel", "sender_id", "reply_target", "text", "key", "at"])
@pytest.mark.parametrize("value", [None, 5, [], {"a": 1}])
def test_an_invalid_field_of_a_message_is_rejected(name: str, value: Any) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - the message depends on the field
        Message.from_json({**a_message().to_json(), name: value})


@pytest.mark.parametrize("stored", [None, [], "text", 5, {}])
def test_a_value_that_is_not_an_object_is_rejected(stored: Any) -> None:
    with pytest.raises(ValueError, match="not a message"):
        Message.from_json(stored)


def test_the_task_id_follows_from_the_dedup_key_and_the_sender() -> None:
    assert a_message(dedup_key="1").task_id == a_message("other words", dedup_key="1").task_id
    assert a_message(dedup_key="1").task_id != a_message(dedup_key="2").task_id
    assert a_message(dedup_key="1").task_id != a_message(dedup_key="1", channel="slack").task_id


def test_the_reply_context_is_not_in_the_repr_and_can_be_removed() -> None:
    message = a_message(reply_context=SECRET)

    assert "secret-token" not in repr(message)
    assert message.without_reply_context().reply_context == {}


def test_a_late_reply_goes_to_the_private_target_if_there_is_one() -> None:
    assert a_message(reply_target="room").late_reply_target == "room"
    private = a_message(reply_target="room", private_target="user:7", reply_context=SECRET)
    assert private.without_reply_context().late_reply_target == "user:7"


def test_a_chat_message_round_trips_through_json() -> None:
    chat_message = ChatMessage(
        "Reminder: tea", (Button("Done", "/done 1"), Button("1 h", "/snooze 1 1h"))
    )

    assert ChatMessage.from_json(chat_message.to_json()) == chat_message
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
def test_an_invalid_chat_message_is_rejected(stored: Any) -> None:
    with pytest.raises(ValueError, match="not a"):
        ChatMessage.from_json(stored)
