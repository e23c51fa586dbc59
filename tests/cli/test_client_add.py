"""`duecourse add`, and invalid flags of the client commands."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from tests.cli.command_client import DOWN, CommandClient, check_error
from tests.support.stack_client import StackClient


def test_add_prints_the_stored_task(duecourse: CommandClient, stack: StackClient) -> None:
    result = duecourse("add", "stretch", "--in", "10m", "--channel", "console", "--to", "ada")

    [task] = stack.items("/tasks")
    assert result.out.startswith("Created:\ndescription  stretch\n")
    assert task["id"] in result.out
    assert re.search(r"^due +Tue 17 Feb 2026 12:1\d:\d\d UTC \(in 10 min\)$", result.out, re.M)
    assert (task["channel"], task["reply_target"]) == ("console", "ada")


def test_add_sends_every_flag(duecourse: CommandClient, stack: StackClient, tmp_path: Path) -> None:
    payload = tmp_path / "payload.json"
    payload.write_text(json.dumps({"provider": "scripted", "script": [DOWN]}))
    time_flags = ["--at", "2026-11-20T08:30", "--timezone", "Europe/Berlin", "--repeat", "weekdays"]
    work_flags = ["--type", "action", "--payload", f"@{payload}", "--policy", "agent", "--verify"]
    other_flags = ["--subject", "s", "--sender", "ada", "--max-retries", "2", "--key", "once"]

    task = duecourse("add", "fix it", *time_flags, *work_flags, *other_flags, "--json").json

    assert (task["due_at"], task["timezone"]) == ("2026-11-20T07:30:00.000Z", "Europe/Berlin")
    assert (task["type"], task["policy"], task["verify"]) == ("action", "agent", True)
    assert (task["subject"], task["sender_id"], task["max_retries"]) == ("s", "ada", 2)
    assert (task["repeat"], task["payload"]["provider"]) == ("weekdays", "scripted")
    assert stack.items("/tasks") == [task]


def test_add_with_the_same_key_adds_once(duecourse: CommandClient, stack: StackClient) -> None:
    for first_line in ("Created:", "Already created with this --key:"):
        result = duecourse("add", "x", "--at", "2026-11-20T08:30", "--key", "k")
        assert result.out.startswith(first_line)

    assert len(stack.items("/tasks")) == 1
    assert "was used with another body" in check_error(
        duecourse("add", "y", "--in", "1h", "--key", "k")
    )


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["add", "x"], "--in, --at or --repeat"),
        (["add", "x", "--in", "banana"], "--in"),
        (["add", "x", "--at", "yesterday"], "--at"),
        (["add", "x", "--at", "2020-01-01T00:00"], "--at"),
        (["add", "x", "--in", "1m", "--at", "2027-01-01T00:00"], "--at"),
        (["add", "x", "--repeat", "often"], "--repeat"),
        (["add", "x", "--in", "1m", "--timezone", "Mars"], "--timezone"),
        (["add", "x", "--in", "1m", "--payload", "{"], "--payload"),
        (["add", "x", "--in", "1m", "--payload", "[]"], "--payload"),
        (["add", "x", "--in", "1m", "--payload", '{"budgt": "x"}'], "budgt: unknown key"),
        (["add", "x", "--in", "1m", "--payload", '{"snooze_of": "x"}'], "snooze_of: is set by"),
        (["add", "x", "--in", "1m", "--payload", "@nowhere.json"], "nowhere.json"),
        (["add", "x", "--in", "1m", "--payload", f"@{sys.executable}"], "--payload"),
        (["add", "x", "--in", "1m", "--policy", "nobody"], "--policy"),
        (["add", "x", "--in", "1m", "--channel", "pigeon"], "--channel"),
        (["add", "x", "--in", "1m", "--verify"], "--verify"),
        (["add", "x", "--in", "1m", "--max-retries", "many"], "--max-retries"),
        (["add", "x", "--in", "1m", "--max-retries", "0"], "--max-retries"),
        (["add", "x", "--in", "1m", "--key", "two\nlines"], "--key"),
        (["add", "x", "--in", "1m", "--key", " "], "--key"),
        (["add", " ", "--in", "1m"], "DESCRIPTION"),
        (["add", "x" * 4_001, "--in", "1m"], "DESCRIPTION"),
        (["tasks", "--status", "odd"], "--status"),
        (["tasks", "--limit", "0"], "--limit"),
        (["tasks", "--limit", "5", "--all"], "--all"),
        (["stats", "--days", "31"], "--days"),
        (["task", " "], "ID"),
        (["cancel"], "ID"),
        (["completion", "cmd"], "shell"),
    ],
)
def test_bad_usage_names_the_flag(
    duecourse: CommandClient, stack: StackClient, arguments: list[str], expected: str
) -> None:
    assert expected in check_error(duecourse(*arguments), code=2)
    assert stack.items("/tasks") == []
