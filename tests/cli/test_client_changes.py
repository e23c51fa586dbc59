"""`duecourse cancel`, `retry` and `stats`."""

from __future__ import annotations

import pytest

from tests.cli.command_client import (
    CommandClient,
    check_error,
    create_failed_action,
    serve_receiver,
)
from tests.support.stack_client import StackClient


def test_cancel_reports_each_task_and_counts_refusals(
    duecourse: CommandClient, stack: StackClient
) -> None:
    first, second = (stack.create(**{"in": "5m"}) for _ in range(2))

    result = duecourse("cancel", first["short_id"], "00000000", second["id"])

    assert result.code == 1
    assert result.out.splitlines() == [
        f"Cancelled {task['short_id']}: stretch" for task in (first, second)
    ]
    assert result.err.count("\n") == 1
    assert "00000000" in result.err
    assert "(1 of 3 refused)" in result.err
    assert {task["status"] for task in stack.items("/tasks")} == {"cancelled"}


def test_retry_resets_the_retry_count_and_refuses_a_task_that_has_not_failed(
    duecourse: CommandClient, stack: StackClient
) -> None:
    task = create_failed_action(stack)

    result = duecourse("retry", task["id"], "--json")

    assert (result.code, result.json["items"][0]["retry_count"]) == (0, 0)
    pending = stack.create(**{"in": "5m"})
    assert "no failure to retry" in check_error(duecourse("retry", pending["short_id"]))


def test_a_refused_token_stops_after_the_first_request(
    duecourse: CommandClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serve_receiver(monkeypatch) as server:
        server.answer(401, b"{}")

        check_error(duecourse("cancel", "00000001", "00000002"))
        assert len(server.requests) == 1


@pytest.mark.parametrize("failure", ["answer", "drop"])
def test_completed_changes_are_printed_when_a_later_one_fails(
    duecourse: CommandClient, monkeypatch: pytest.MonkeyPatch, failure: str
) -> None:
    with serve_receiver(monkeypatch) as server:
        server.answer(200, b'{"id": "00000001", "short_id": "00000001"}')
        server.answer(500, b"{}") if failure == "answer" else server.drop_connection()

        result = duecourse("cancel", "00000001", "00000002", "00000003", "--json")

        assert len(server.requests) == 2
    assert (result.code, [task["id"] for task in result.json["items"]]) == (1, ["00000001"])
    assert result.err.count("\n") == 1
    assert result.err.startswith("duecourse: 00000002: ")
    assert "(1 of 3 not tried)" in result.err


def test_stats_prints_tables(duecourse: CommandClient, stack: StackClient) -> None:
    assert "No failures." in duecourse("stats").out
    create_failed_action(stack)
    stack.create(**{"in": "1s"})
    stack.advance("5s")

    out = duecourse("stats", "--days", "1").out

    assert out.startswith("Today (UTC)\n1 run succeeded. Lateness: p50 ")
    for title in ("Errors by category", "Recovered", "Common patterns", "Providers"):
        assert title in out
    assert duecourse("stats", "--json").json == stack.call("GET", "/stats").body
