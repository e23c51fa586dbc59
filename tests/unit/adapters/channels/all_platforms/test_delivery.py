"""What every channel makes of what is to be said: all that fits arrives, and does nothing else."""

from __future__ import annotations

import re

import pytest
from duecourse.domain.chat.chat_message import Button, ChatMessage

from tests.support.chat_cases import (
    HELLO,
    MESSAGE_WITH_BUTTONS,
    TOKEN,
    a_platform_message,
    utf16_length,
)
from tests.unit.adapters.channels.all_platforms.line import Line

CUT = re.compile(r"(?s)(.*)… \\?\(cut, ([\d,]+) more characters\\?\)")


def test_a_message_is_posted_once_as_json(line: Line) -> None:
    line.will_agree()
    assert line.text_of("grüß 🎉") == "grüß 🎉"
    (request,) = line.receiver.requests
    assert request.method == "POST"
    assert request.headers["content-type"] == "application/json; charset=utf-8"
    assert TOKEN in request.path + request.headers.get("authorization", "")


def test_a_message_is_answered_where_it_was_said(line: Line) -> None:
    line.will_agree()
    line.send()
    line.channel.reply(a_platform_message(line.platform.name, line.platform.target), HELLO)
    sent, answered = line.receiver.requests
    assert (answered.path, answered.json) == (sent.path, sent.json)


# Texts.


def test_what_just_fits_is_not_cut(line: Line) -> None:
    line.will_agree()
    text = "x" * line.platform.longest_text
    assert line.text_of(text) == text


@pytest.mark.parametrize("extra", [1, 2, 100_000])
@pytest.mark.parametrize(("begins", "goes_on"), [("", "x"), ("", "🎉"), ("a", "🎉")])
def test_what_does_not_fit_is_cut_and_says_by_how_much(
    line: Line, begins: str, goes_on: str, extra: int
) -> None:
    line.will_agree()
    longest = line.platform.longest_text
    text = begins + goes_on * (longest // utf16_length(goes_on) + extra)
    sent = line.text_of(text)
    assert longest - 2 <= utf16_length(sent) <= longest
    found = CUT.fullmatch(sent)
    assert found
    shown, missing = found[1], int(found[2].replace(",", ""))
    assert text.startswith(shown)
    assert len(shown) + missing == len(text)


def test_no_emoji_is_cut_in_two(line: Line) -> None:
    line.will_agree()
    family = "👩🏽‍👩🏽‍👧🏽"
    shown, *_ = line.text_of(family * 1_000).partition("…")
    assert set(shown.split(family)) == {""}


def test_half_a_character_does_not_keep_the_rest_from_being_sent(line: Line) -> None:
    line.will_agree()
    assert line.text_of("half \ud83d") == "half ?"


@pytest.mark.parametrize("times", [1, 5_000])
def test_nobody_is_mentioned(line: Line, times: int) -> None:
    line.will_agree()
    mention, harmless = line.platform.mention, line.platform.harmless
    sent = line.text_of(f"ask {mention} " * times)
    assert sent.startswith(f"ask {harmless} ")
    assert mention not in sent.replace(harmless, "")
    assert utf16_length(sent) <= line.platform.longest_text


# Buttons.


def test_a_message_has_the_buttons_that_it_is_given(line: Line) -> None:
    line.will_agree()
    assert line.buttons_of(HELLO) == []
    given = [(one.label, one.command) for one in MESSAGE_WITH_BUTTONS.buttons]
    assert line.buttons_of(MESSAGE_WITH_BUTTONS) == given


@pytest.mark.parametrize(("extra", "is_kept"), [(0, True), (1, False)])
def test_a_button_whose_command_does_not_fit_is_left_out(
    line: Line, extra: int, is_kept: bool
) -> None:
    line.will_agree()
    long = Button("Do", "x" * (line.platform.longest_command + extra))
    kept = line.buttons_of(ChatMessage("Hm?", (long, Button("b", "/b"))))
    assert kept == ([(long.label, long.command)] if is_kept else []) + [("b", "/b")]


def test_of_two_buttons_that_say_the_same_the_first_is_kept(line: Line) -> None:
    line.will_agree()
    buttons = (Button("b", "/b"), Button("again", "/b"), Button("", "/d"))
    assert line.buttons_of(ChatMessage("Hm?", buttons)) == [("b", "/b"), ("/d", "/d")]


def test_a_label_that_is_too_long_is_cut(line: Line) -> None:
    line.will_agree()
    ((label, _),) = line.buttons_of(ChatMessage("Hm?", (Button("b" * 100, "/b"),)))
    assert label.endswith("b…")
    assert len(label) <= line.platform.longest_label


def test_only_so_many_buttons_are_sent(line: Line) -> None:
    line.will_agree()
    buttons = tuple(Button(f"b{n}", f"/b {n}") for n in range(30))
    sent = line.buttons_of(ChatMessage("Which?", buttons))
    assert sent == [(one.label, one.command) for one in buttons[: line.platform.most_buttons]]
