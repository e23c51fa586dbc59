"""`duecourse tasks` and `duecourse task`, as a table and as JSON."""

from __future__ import annotations

import re
import subprocess

import pytest

from tests.cli.command_client import (
    CommandClient,
    check_error,
    create_failed_action,
    environment,
    serve_receiver,
)
from tests.cli.test_cli import COMMAND
from tests.support.stack_client import StackClient

HOSTILE_TEXT = "evil \x1b[31mred\x1b]0;title\x07\u202e \x9b2J end"


def test_tasks_are_a_table_newest_first(duecourse: CommandClient, stack: StackClient) -> None:
    first = stack.create(due_at="2026-03-01T12:05:00Z")
    stack.advance("1s")
    second = stack.create(description="tea", due_at="2027-03-01T08:00:00Z")
    stack.call("POST", f"/tasks/{second['id']}/pause")

    heading, *rows = duecourse("tasks").out.splitlines()

    assert heading.split() == [*("ID", "TYPE", "STATUS", "DUE", "(UTC)", "RETRY", "DESCRIPTION")]
    assert [" ".join(row.split()) for row in rows] == [
        f"{second['short_id']} reminder pending (paused) 1 Mar 2027 in 376 d 0/3 tea",
        f"{first['short_id']} reminder pending 1 Mar 12:05 in 12 d 0/3 stretch",
    ]


def test_tasks_are_shown_in_the_time_zone_of_the_terminal(stack: StackClient) -> None:
    stack.create(due_at="2026-02-17T15:00:00Z")

    result = subprocess.run(  # noqa: S603 - our own command
        [str(COMMAND), "tasks"],
        env=environment(TZ="Asia/Tokyo"),
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )

    assert "DUE (JST)" in result.stdout
    assert "18 Feb 00:00" in result.stdout


def test_tasks_as_json_are_the_items_of_the_api(
    duecourse: CommandClient, stack: StackClient
) -> None:
    stack.create(**{"in": "5m"})

    assert duecourse("tasks", "--json").json == {"items": stack.items("/tasks")}


def test_tasks_are_filtered(duecourse: CommandClient, stack: StackClient) -> None:
    stack.create(description="hers", sender_id="ada", **{"in": "5m"})
    stack.advance("1s")  # the newer is the first
    cancelled = stack.create(description="his", sender_id="bob", **{"in": "5m"})
    stack.call("POST", f"/tasks/{cancelled['id']}/cancel")

    def list_descriptions(*flags: str) -> list[str]:
        items = duecourse("tasks", "--json", *flags).json["items"]
        return [item["description"] for item in items]

    assert list_descriptions("--sender", "ada") == ["hers"]
    assert list_descriptions("--status", "cancelled") == ["his"]
    assert list_descriptions("--type", "action") == []
    assert list_descriptions("--channel", "console", "--limit", "1") == ["his"]
    assert list_descriptions("--search", "HER") == ["hers"]
    assert list_descriptions("--search", cancelled["short_id"]) == ["his"]
    assert list_descriptions("--category", "transient") == []


def test_tasks_are_filtered_by_category(duecourse: CommandClient, stack: StackClient) -> None:
    task = create_failed_action(stack)
    stack.create(**{"in": "5m"})

    items = duecourse("tasks", "--json", "--category", "transient").json["items"]
    assert [item["id"] for item in items] == [task["id"]]


def test_a_refused_filter_is_named_by_its_flag(
    duecourse: CommandClient, stack: StackClient
) -> None:
    assert stack.items("/tasks") == []
    assert "--search" in check_error(duecourse("tasks", "--search", "x" * 201), code=2)


def test_all_reads_every_page(
    duecourse: CommandClient, stack: StackClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("local.cli.commands.tasks._PAGE_SIZE", 2)
    for _ in range(5):
        stack.create(**{"in": "5m"})
    stored = stack.items("/tasks")

    all_items = duecourse("tasks", "--all", "--json").json["items"]
    first_three = duecourse("tasks", "--limit", "3", "--json").json["items"]

    assert len(stored) == 5
    assert all_items == stored
    assert first_three == stored[:3]


def test_an_endless_list_is_not_followed(
    duecourse: CommandClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serve_receiver(monkeypatch) as server:
        server.answer(200, b'{"items": [], "next_cursor": "again"}')

        assert "the same page twice" in check_error(duecourse("tasks", "--all"))


def test_control_characters_in_tasks_are_not_printed(
    duecourse: CommandClient, stack: StackClient
) -> None:
    task = stack.create(description=HOSTILE_TEXT, **{"in": "5m"})
    outputs = [
        duecourse("tasks").out,
        duecourse("task", task["id"], "--history").out,
        duecourse("tasks", "--json").out,
        duecourse("cancel", task["id"]).out,
    ]

    for output in outputs:
        assert "end" in output
        assert output.replace("\n", "").isprintable()
        assert not set(output) & set("\x1b\x07\x9b\u202e")


def test_task_prints_its_fields_runs_history_and_errors(
    duecourse: CommandClient, stack: StackClient
) -> None:
    task = create_failed_action(stack)

    out = duecourse("task", task["short_id"], "--runs", "--history", "--errors").out

    facts = dict(line.split(maxsplit=1) for line in out.split("\n\n")[0].splitlines())
    assert (facts["id"], facts["status"], facts["category"]) == (task["id"], "pending", "transient")
    assert re.fullmatch(r"Tue 17 Feb 2026 12:\d\d:\d\d UTC \(in (29|3\d) s\)", facts["due"])
    assert "task:retry_scheduled" in out
    assert "connection-codes" in out
    assert "paused:transient" in out


def test_a_task_as_json_equals_the_api_with_the_requested_lists(
    duecourse: CommandClient, stack: StackClient
) -> None:
    task = create_failed_action(stack)

    assert duecourse("task", task["id"], "--json").json == task
    with_lists = duecourse("task", task["id"], "--json", "--runs", "--errors").json
    assert with_lists == {
        **task,
        "runs": stack.items(f"/tasks/{task['id']}/runs"),
        "errors": stack.items(f"/tasks/{task['id']}/errors"),
    }


@pytest.mark.parametrize("task_id", ["0a1b2c3d", "../stats", "x?y", "\udcff", "a" * 3_000])
def test_an_unknown_task_is_one_line(
    duecourse: CommandClient, stack: StackClient, task_id: str
) -> None:
    assert stack.items("/tasks") == []
    assert "task" in check_error(duecourse("task", task_id))
