"""How every channel sends texts and buttons: truncation, mentions and limits."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from duecourse.domain.chat.chat_message import Button, ChatMessage

from tests.support.chat_cases import (
    HELLO,
    MESSAGE_WITH_BUTTONS,
    TOKEN,
    a_platform_message,
    utf16_length,
)
from tests.unit.adapters.channels.all_platforms.platform_harness import PlatformHarness

TRUNCATED = re.compile(r"(?s)(.*)… \\?\(cut, ([\d,]+) more characters\\?\)")


def test_a_message_is_posted_once_as_json(harness: PlatformHarness) -> None:
    harness.queue_success()
    assert harness.send_text("grüß 🎉") == "grüß 🎉"
    (request,) = harness.receiver.requests
    assert request.method == "POST"
    assert request.headers["content-type"] == "application/json; charset=utf-8"
    assert TOKEN in request.path + request.headers.get("authorization", "")


def test_a_reply_goes_to_the_chat_of_the_message(harness: PlatformHarness) -> None:
    harness.queue_success()
    harness.send()
    message = a_platform_message(harness.platform.name, harness.platform.target)
    harness.channel.reply(replace(message, is_private=False), HELLO)
    sent, reply = harness.receiver.requests
    assert (reply.path, reply.json) == (sent.path, sent.json)


# Texts.


def test_a_text_of_the_maximum_length_is_not_truncated(harness: PlatformHarness) -> None:
    harness.queue_success()
    text = "x" * harness.platform.max_text
    assert harness.send_text(text) == text


@pytest.mark.parametrize("extra", [1, 2, 100_000])
@pytest.mark.parametrize(("prefix", "filler"), [("", "x"), ("", "🎉"), ("a", "🎉")])
def test_a_longer_text_is_truncated_with_the_number_of_missing_characters(
    harness: PlatformHarness, prefix: str, filler: str, extra: int
) -> None:
    harness.queue_success()
    max_length = harness.platform.max_text
    text = prefix + filler * (max_length // utf16_length(filler) + extra)
    sent = harness.send_text(text)
    assert max_length - 2 <= utf16_length(sent) <= max_length
    match = TRUNCATED.fullmatch(sent)
    assert match
    shown, missing = match[1], int(match[2].replace(",", ""))
    assert text.startswith(shown)
    assert len(shown) + missing == len(text)


def test_truncation_does_not_split_an_emoji(harness: PlatformHarness) -> None:
    harness.queue_success()
    family = "👩🏽‍👩🏽‍👧🏽"
    shown, *_ = harness.send_text(family * 1_000).partition("…")
    assert set(shown.split(family)) == {""}


def test_a_lone_surrogate_is_replaced(harness: PlatformHarness) -> None:
    harness.queue_success()
    assert harness.send_text("half \ud83d") == "half ?"


@pytest.mark.parametrize("times", [1, 5_000])
def test_mentions_are_escaped(harness: PlatformHarness, times: int) -> None:
    harness.queue_success()
    mention, harmless = harness.platform.mention, harness.platform.escaped_mention
    sent = harness.send_text(f"ask {mention} " * times)
    assert sent.startswith(f"ask {harmless} ")
    assert mention not in sent.replace(harmless, "")
    assert utf16_length(sent) <= harness.platform.max_text


# Buttons.


def test_a_message_is_sent_with_its_buttons(harness: PlatformHarness) -> None:
    harness.queue_success()
    assert harness.send_buttons(HELLO) == []
    expected = [(button.label, button.command) for button in MESSAGE_WITH_BUTTONS.buttons]
    assert harness.send_buttons(MESSAGE_WITH_BUTTONS) == expected


@pytest.mark.parametrize(("extra", "is_sent"), [(0, True), (1, False)])
def test_a_button_with_a_command_that_is_too_long_is_omitted(
    harness: PlatformHarness, extra: int, is_sent: bool
) -> None:
    harness.queue_success()
    long_button = Button("Do", "x" * (harness.platform.max_command + extra))
    sent = harness.send_buttons(ChatMessage("Hm?", (long_button, Button("b", "/b"))))
    assert sent == ([(long_button.label, long_button.command)] if is_sent else []) + [("b", "/b")]


def test_only_the_first_of_two_buttons_with_the_same_command_is_sent(
    harness: PlatformHarness,
) -> None:
    harness.queue_success()
    buttons = (Button("b", "/b"), Button("again", "/b"), Button("", "/d"))
    assert harness.send_buttons(ChatMessage("Hm?", buttons)) == [("b", "/b"), ("/d", "/d")]


def test_a_label_that_is_too_long_is_truncated(harness: PlatformHarness) -> None:
    harness.queue_success()
    ((label, _),) = harness.send_buttons(ChatMessage("Hm?", (Button("b" * 100, "/b"),)))
    assert label.endswith("b…")
    assert len(label) <= harness.platform.max_label


def test_buttons_above_the_maximum_are_omitted(harness: PlatformHarness) -> None:
    harness.queue_success()
    buttons = tuple(Button(f"b{n}", f"/b {n}") for n in range(30))
    sent = harness.send_buttons(ChatMessage("Which?", buttons))
    assert sent == [
        (button.label, button.command) for button in buttons[: harness.platform.max_buttons]
    ]
