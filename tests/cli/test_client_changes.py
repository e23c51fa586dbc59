"""`duecourse cancel`, `retry` and `stats`."""

from __future__ import annotations

import pytest

from tests.cli.client import Client, a_server, an_error, failed_action
from tests.support.stack_client import StackClient


def test_each_of_several_is_told_by_itself(duecourse: Client, stack: StackClient) -> None:
    one, two = (stack.create(**{"in": "5m"}) for _ in range(2))

    done = duecourse("cancel", one["short_id"], "00000000", two["id"])

    assert done.code == 1
    assert done.out.splitlines() == [
        f"Cancelled {task['short_id']}: stretch" for task in (one, two)
    ]
    assert done.err.count("\n") == 1
    assert "00000000" in done.err
    assert "(1 of 3 refused)" in done.err
    assert {task["status"] for task in stack.items("/tasks")} == {"cancelled"}


def test_a_retry_is_due_at_once(duecourse: Client, stack: StackClient) -> None:
    task = failed_action(stack)

    done = duecourse("retry", task["id"], "--json")

    assert (done.code, done.json["items"][0]["retry_count"]) == (0, 0)
    fresh = stack.create(**{"in": "5m"})
    assert "nothing failed" in an_error(duecourse("retry", fresh["short_id"]))


def test_without_a_server_the_rest_is_not_tried(
    duecourse: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    with a_server(monkeypatch) as server:
        server.answer(401, b"{}")

        an_error(duecourse("cancel", "00000001", "00000002"))
        assert len(server.requests) == 1


@pytest.mark.parametrize("breaks", ["answer", "drop"])
def test_what_was_done_is_told_though_the_next_one_failed(
    duecourse: Client, monkeypatch: pytest.MonkeyPatch, breaks: str
) -> None:
    with a_server(monkeypatch) as server:
        server.answer(200, b'{"id": "00000001", "short_id": "00000001"}')
        server.answer(500, b"{}") if breaks == "answer" else server.drop()

        done = duecourse("cancel", "00000001", "00000002", "00000003", "--json")

        assert len(server.requests) == 2
    assert (done.code, [task["id"] for task in done.json["items"]]) == (1, ["00000001"])
    assert done.err.count("\n") == 1
    assert done.err.startswith("duecourse: 00000002: ")
    assert "(1 of 3 not tried)" in done.err


def test_stats_are_tables(duecourse: Client, stack: StackClient) -> None:
    assert "No failures." in duecourse("stats").out
    failed_action(stack)
    stack.create(**{"in": "1s"})
    stack.advance("5s")

    out = duecourse("stats", "--days", "1").out

    assert out.startswith("Today (UTC)\n1 run succeeded. Lateness: p50 ")
    for title in ("Errors by category", "Recovered", "Common patterns", "Providers"):
        assert title in out
    assert duecourse("stats", "--json").json == stack.call("GET", "/stats").body
