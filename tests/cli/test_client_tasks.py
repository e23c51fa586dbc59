"""`duecourse tasks` and `duecourse task`: what there is, as a table and as JSON."""

from __future__ import annotations

import re
import subprocess

import pytest

from tests.cli.client import Client, a_server, an_error, environment, failed_action
from tests.cli.test_cli import DUECOURSE
from tests.support.stack_client import StackClient

EVIL = "evil \x1b[31mred\x1b]0;title\x07\u202e \x9b2J end"


def test_tasks_are_a_table_newest_first(duecourse: Client, stack: StackClient) -> None:
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


def test_tasks_are_shown_on_the_clock_of_the_terminal(stack: StackClient) -> None:
    stack.create(due_at="2026-02-17T15:00:00Z")

    done = subprocess.run(  # noqa: S603 - our own command
        [str(DUECOURSE), "tasks"],
        env=environment(TZ="Asia/Tokyo"),
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )

    assert "DUE (JST)" in done.stdout
    assert "18 Feb 00:00" in done.stdout


def test_tasks_as_json_are_the_items_of_the_api(duecourse: Client, stack: StackClient) -> None:
    stack.create(**{"in": "5m"})

    assert duecourse("tasks", "--json").json == {"items": stack.items("/tasks")}


def test_tasks_are_filtered(duecourse: Client, stack: StackClient) -> None:
    stack.create(description="hers", sender_id="ada", **{"in": "5m"})
    stack.advance("1s")  # the newer is the first
    his = stack.create(description="his", sender_id="bob", **{"in": "5m"})
    stack.call("POST", f"/tasks/{his['id']}/cancel")

    def found(*flags: str) -> list[str]:
        items = duecourse("tasks", "--json", *flags).json["items"]
        return [item["description"] for item in items]

    assert found("--sender", "ada") == ["hers"]
    assert found("--status", "cancelled") == ["his"]
    assert found("--type", "action") == []
    assert found("--channel", "console", "--limit", "1") == ["his"]
    assert found("--search", "HER") == ["hers"]
    assert found("--search", his["short_id"]) == ["his"]
    assert found("--category", "transient") == []


def test_tasks_of_a_category_are_found(duecourse: Client, stack: StackClient) -> None:
    task = failed_action(stack)
    stack.create(**{"in": "5m"})

    items = duecourse("tasks", "--json", "--category", "transient").json["items"]
    assert [item["id"] for item in items] == [task["id"]]


def test_a_filter_that_the_server_refuses_is_named_by_its_flag(
    duecourse: Client, stack: StackClient
) -> None:
    assert stack.items("/tasks") == []
    assert "--search" in an_error(duecourse("tasks", "--search", "x" * 201), code=2)


def test_all_tasks_come_page_by_page(
    duecourse: Client, stack: StackClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("local.cli.commands.tasks._PAGE_SIZE", 2)
    for _ in range(5):
        stack.create(**{"in": "5m"})
    there = stack.items("/tasks")

    items = duecourse("tasks", "--all", "--json").json["items"]
    three = duecourse("tasks", "--limit", "3", "--json").json["items"]

    assert len(there) == 5
    assert items == there
    assert three == there[:3]


def test_a_list_that_never_ends_is_not_followed(
    duecourse: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    with a_server(monkeypatch) as server:
        server.answer(200, b'{"items": [], "next_cursor": "again"}')

        assert "the same page twice" in an_error(duecourse("tasks", "--all"))


def test_what_somebody_else_wrote_cannot_touch_the_terminal(
    duecourse: Client, stack: StackClient
) -> None:
    task = stack.create(description=EVIL, **{"in": "5m"})
    shown = [
        duecourse("tasks").out,
        duecourse("task", task["id"], "--history").out,
        duecourse("tasks", "--json").out,
        duecourse("cancel", task["id"]).out,
    ]

    for text in shown:
        assert "end" in text
        assert text.replace("\n", "").isprintable()
        assert not set(text) & set("\x1b\x07\x9b\u202e")


def test_a_task_is_told_in_full(duecourse: Client, stack: StackClient) -> None:
    task = failed_action(stack)

    out = duecourse("task", task["short_id"], "--runs", "--history", "--errors").out

    facts = dict(line.split(maxsplit=1) for line in out.split("\n\n")[0].splitlines())
    assert (facts["id"], facts["status"], facts["category"]) == (task["id"], "pending", "transient")
    assert re.fullmatch(r"Tue 17 Feb 2026 12:\d\d:\d\d UTC \(in (29|3\d) s\)", facts["due"])
    assert "task:retry_scheduled" in out
    assert "connection-codes" in out
    assert "paused:transient" in out


def test_a_task_as_json_is_that_of_the_api_with_the_lists_asked_for(
    duecourse: Client, stack: StackClient
) -> None:
    task = failed_action(stack)

    assert duecourse("task", task["id"], "--json").json == task
    both = duecourse("task", task["id"], "--json", "--runs", "--errors").json
    assert both == {
        **task,
        "runs": stack.items(f"/tasks/{task['id']}/runs"),
        "errors": stack.items(f"/tasks/{task['id']}/errors"),
    }


@pytest.mark.parametrize("task_id", ["0a1b2c3d", "../stats", "x?y", "\udcff", "a" * 3_000])
def test_an_unknown_task_is_one_line(duecourse: Client, stack: StackClient, task_id: str) -> None:
    assert stack.items("/tasks") == []
    assert "task" in an_error(duecourse("task", task_id))
