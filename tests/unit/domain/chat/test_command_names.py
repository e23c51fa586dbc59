"""The command names, and how platform commands are converted to command text."""

from __future__ import annotations

import pytest
from duecourse.domain.chat import parse_command
from duecourse.domain.chat.command_names import COMMAND_NAMES, to_command_text


def test_command_names_are_the_names_that_the_parser_knows() -> None:
    parsed_names = [*parse_command._TASK_COMMANDS, *parse_command._OTHER_COMMANDS]

    assert {word.removeprefix("/") for word in parsed_names} == COMMAND_NAMES


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
def test_a_platform_command_is_converted_to_command_text(name: str, rest: str, text: str) -> None:
    assert to_command_text(name, rest) == text
