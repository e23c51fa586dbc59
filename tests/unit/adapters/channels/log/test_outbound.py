"""The channel `log` writes one line a message, without secrets."""

from __future__ import annotations

import json

import pytest
from duecourse.adapters.channels.log.outbound import LogChannel
from duecourse.domain.chat.chat_message import ChatMessage

from tests.support.builders.moments import NOW
from tests.support.fakes.clock import ManualClock


def written_lines(text: str) -> list[str]:
    lines: list[str] = []
    channel = LogChannel(ManualClock(NOW), lines.append)
    channel.send("ada", ChatMessage(text), idempotency_key="run-1")
    return lines


def test_a_message_is_one_line_of_json() -> None:
    [line] = written_lines("Reminder: stretch")

    assert json.loads(line) == {
        "level": "INFO",
        "message": "message_logged",
        "timestamp": "2026-02-17T12:00:00.000Z",
        "target": "ada",
        "text": "Reminder: stretch",
        "key": "run-1",
    }


@pytest.mark.parametrize("text", ['x\n{"level": "ERROR"}', "x\u2028y", "x\x1b[2J"])
def test_a_text_cannot_forge_a_line(text: str) -> None:
    [line] = written_lines(text)

    assert line.isprintable()
    assert json.loads(line)["text"] == text


def test_secrets_are_redacted() -> None:
    [line] = written_lines("Reminder: rotate sk-live-0123456789abcdef, password=hunter2hunter2")

    assert "0123456789abcdef" not in line
    assert "hunter2hunter2" not in line


def test_by_default_the_line_goes_to_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    LogChannel(ManualClock(NOW)).send("ada", ChatMessage("x"), idempotency_key="k")

    assert json.loads(capsys.readouterr().out)["text"] == "x"
