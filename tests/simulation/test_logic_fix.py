"""A bug in a custom handler, from the failed run to the deployment that fixes it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.custom_handler import (
    BUG,
    MODULE_NAME,
    HandlerProject,
    handler_project,
    write_handler,
)


@pytest.fixture
def team(tmp_path: Path) -> Iterator[HandlerProject]:
    with handler_project(tmp_path) as deployed:
        yield deployed


def test_a_task_blocked_by_a_bug_is_retried_after_a_deployment(team: HandlerProject) -> None:
    old = team.deploy(prepare=BUG)
    task_id = team.create()
    team.client.advance("1h")
    blocked = team.client.task(task_id)

    new = team.deploy()
    team.client.advance("10m")

    assert (blocked["status"], blocked["recovery_action"]) == ("blocked", "await_fix")
    first, second = team.runs(task_id)
    assert (first["status"], first["handler_version"]) == ("failed:logic", old)
    assert (second["status"], second["handler_version"]) == ("committed", new)
    assert (second["reason"], second["retry_of"]) == ("logic_fix", first["id"])
    assert second["mutation"]["key"] == first["mutation"]["key"]
    assert second["mutation"]["result"] == {"lit": 7}
    assert team.status(task_id) == "completed"


def test_a_bug_in_emit_does_not_repeat_the_effect(team: HandlerProject) -> None:
    team.deploy(emit=BUG)
    task_id = team.create()
    team.client.advance("1h")

    team.deploy()
    team.client.advance("10m")

    first, second = team.runs(task_id)
    assert (first["phase"], first["status"]) == ("emitting", "failed:logic")
    assert (second["reason"], second["status"]) == ("logic_fix", "committed")
    assert second["mutation"]["result"] == {"lit": 7}
    assert sys.modules[MODULE_NAME].HANDLERS["lights"].done == []


def test_a_bug_in_mutate_asks_a_person(team: HandlerProject) -> None:
    team.deploy(mutate=BUG)
    task_id = team.create()
    team.client.advance("1h")

    team.deploy()
    team.client.advance("10m")

    task = team.client.task(task_id)
    assert (task["status"], task["recovery_action"]) == ("blocked", "ask_person")
    assert [run["mutation"]["status"] for run in team.runs(task_id)] == ["indeterminate"]


def test_a_deployment_with_another_bug_blocks_again(team: HandlerProject) -> None:
    team.deploy(prepare=BUG)
    task_id = team.create()
    team.client.advance("1h")

    team.deploy(prepare="return None.what")
    team.client.advance("2h")
    waiting = team.status(task_id)
    team.deploy()
    team.client.advance("10m")

    assert (waiting, team.status(task_id)) == ("blocked", "completed")
    assert [run["status"] for run in team.runs(task_id)] == [
        *("failed:logic", "failed:logic", "committed")
    ]


def test_without_a_deployment_the_task_stays_blocked(team: HandlerProject) -> None:
    team.deploy(prepare=BUG)
    task_id = team.create()
    team.client.advance("30d")

    assert (team.status(task_id), len(team.runs(task_id))) == ("blocked", 1)


def test_deploying_the_same_code_retries_nothing(team: HandlerProject) -> None:
    old = team.deploy(prepare=BUG)
    task_id = team.create()
    team.client.advance("1h")

    assert team.deploy(prepare=BUG) == old
    team.client.advance("1h")
    assert (team.status(task_id), len(team.runs(task_id))) == ("blocked", 1)


def test_one_sweep_retries_all_blocked_tasks_spread_over_time(team: HandlerProject) -> None:
    team.deploy(prepare=BUG)
    tasks = [team.create() for _ in range(8)]
    team.client.advance("1h")
    team.deploy()

    team.client.advance("10m")

    assert {team.status(task_id) for task_id in tasks} == {"completed"}
    assert team.client.stack.functions.metrics["TasksRetriedAfterDeploy"].count(8) == 1
    assert len({team.client.task(task_id)["due_at"] for task_id in tasks}) > 4


def test_a_failed_occurrence_does_not_block_the_series(team: HandlerProject) -> None:
    team.deploy(prepare=BUG)
    task_id = team.create(repeat="daily")
    team.client.advance("1h")

    assert team.status(task_id) == "pending"
    assert team.client.task(task_id)["due_at"] == "2026-02-18T12:01:00.000Z"


def test_a_blocked_task_can_be_cancelled(team: HandlerProject) -> None:
    team.deploy(prepare=BUG)
    task_id = team.create()
    team.client.advance("1h")
    assert team.client.call("POST", f"/tasks/{task_id}/cancel").status == 200

    team.deploy()
    team.client.advance("1h")

    assert team.status(task_id) == "cancelled"


def test_the_history_has_the_bug_and_the_successful_retry(team: HandlerProject) -> None:
    team.deploy(prepare=BUG)
    task_id = team.create()
    team.client.advance("1h")
    team.deploy()
    team.client.advance("10m")

    types = [event["type"] for event in team.client.items(f"/tasks/{task_id}/history")]
    assert types == [
        *("task:created", "task:started", "task:permanently_blocked", "task:unblocked"),
        *("task:started", "task:retry_executed", "task:completed"),
    ]


def test_code_that_cannot_be_loaded_is_reported(team: HandlerProject) -> None:
    write_handler(team.file, prepare="return (")
    answer = team.client.call("POST", "/_local/redeploy")
    assert (answer.status, "SyntaxError" in answer.body["detail"]) == (422, True)
