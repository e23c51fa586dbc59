"""The words that begin a command, and how a platform's own commands are read by them."""

from __future__ import annotations

import pytest
from duecourse.domain.chat import parse_command
from duecourse.domain.chat.command_names import COMMAND_NAMES, to_command_text


def test_the_words_are_those_that_are_understood() -> None:
    understood = [*parse_command._TASK_COMMANDS, *parse_command._OTHER_COMMANDS]

    assert {word.removeprefix("/") for word in understood} == COMMAND_NAMES


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
    assert to_command_text(name, rest) == text
