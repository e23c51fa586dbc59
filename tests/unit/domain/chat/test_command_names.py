"""The words that begin a command, and how a platform's own commands are read by them."""

from __future__ import annotations

import pytest
from duecourse.domain.chat import commands
from duecourse.domain.chat.command_names import COMMANDS, as_command


def test_the_words_are_those_that_are_understood() -> None:
    understood = [*commands._ABOUT_ONE, *commands._OTHERS]

    assert {word.removeprefix("/") for word in understood} == COMMANDS


@pytest.mark.parametrize(
    ("name", "rest", "text"),
    [
        ("/remind", "in 1h tea", "/remind in 1h tea"),
        ("remind", "in 1h tea", "/remind in 1h tea"),
        ("TASKS", "", "/TASKS"),
        ("/duecourse", "tasks", "/tasks"),
        ("/duecourse", " /tasks ", "/tasks"),
        ("/duecourse", " ", "/help"),
        ("", "", "/help"),
    ],
)
def test_a_name_that_is_none_of_ours_is_followed_by_the_command(
    name: str, rest: str, text: str
) -> None:
    assert as_command(name, rest) == text
