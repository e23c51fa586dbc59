"""The HTTP API at its edges: who may come in, and how it says no."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from duecourse.app import stores
from duecourse.domain.tasks.run import RunStatus
from duecourse.domain.tasks.status import Status

from tests.support.api_response import ApiResponse
from tests.support.builders.moments import NOW
from tests.support.builders.runs import a_run
from tests.support.stack_client import StackClient

UNKNOWN = "00000000-0000-4000-8000-000000000000"
NOT_TEXT = b"\xff\xfe"
REMINDER = {"in": "1h", "description": "stretch", "sender_id": "ada", "reply_target": "ada"}


def _is_problem(answer: ApiResponse, status: int) -> bool:
    return (
        answer.status == status
        and answer.headers["content-type"] == "application/problem+json"
        and answer.body["status"] == status
        and answer.body.keys() >= {"type", "title", "status", "detail"}
    )


@pytest.mark.parametrize("token", [None, "", "wrong", "Local", "local2", "lokäl"])
def test_without_the_right_token_nobody_comes_in(client: StackClient, token: str | None) -> None:
    answer = client.call("GET", "/tasks", token=token)

    assert _is_problem(answer, 401)
    assert answer.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize("header", ["Basic local", "local", "Bearer", "Bearer local local"])
def test_only_a_bearer_token_counts(client: StackClient, header: str) -> None:
    answer = client.call("GET", "/tasks", token=None, headers={"authorization": header})

    assert _is_problem(answer, 401)


def test_the_scheme_is_read_in_any_case(client: StackClient) -> None:
    answer = client.call("GET", "/tasks", token=None, headers={"authorization": "bearer local"})

    assert answer.status == 200


def test_a_stranger_is_not_told_which_routes_exist(client: StackClient) -> None:
    assert _is_problem(client.call("GET", "/no-such-route", token=None), 401)


def test_a_stranger_may_ask_whether_it_is_alive(client: StackClient) -> None:
    answer = client.call("GET", "/health", token=None)

    assert (answer.status, answer.body["status"]) == (200, "ok")
    assert answer.headers["content-type"] == "application/json"


@pytest.mark.parametrize(
    ("method", "target"),
    [
        ("GET", "/no-such-route"),
        ("GET", f"/tasks/{UNKNOWN}"),
        ("GET", f"/tasks/{UNKNOWN}/history"),
        ("POST", f"/tasks/{UNKNOWN}/cancel"),
        ("GET", "/tasks/short"),
    ],
)
def test_what_is_not_there_is_a_404(client: StackClient, method: str, target: str) -> None:
    assert _is_problem(client.call(method, target), 404)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"colour": "red"}, "colour"),
        ({"description": ""}, "description"),
        ({"description": "x" * 4001}, "description"),
        ({"in": "soon"}, "in"),
        ({"channel": "fax"}, "channel"),
        ({"timezone": "Mars/Olympus"}, "timezone"),
        ({"repeat": "now and then"}, "repeat"),
    ],
)
def test_a_bad_field_is_named(client: StackClient, change: dict[str, Any], field: str) -> None:
    answer = client.call("POST", "/tasks", REMINDER | change)

    assert _is_problem(answer, 422)
    assert [error["field"] for error in answer.body["errors"]] == [field]
    assert all(error["message"] for error in answer.body["errors"])


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'"text"', b"null", NOT_TEXT])
def test_a_body_that_is_no_object_is_refused(client: StackClient, body: bytes) -> None:
    assert _is_problem(client.call("POST", "/tasks", body), 422)


def test_what_cannot_be_done_now_is_a_conflict(client: StackClient) -> None:
    task = client.create(**{"in": "10s"})
    client.advance("1m")

    assert _is_problem(client.call("POST", f"/tasks/{task['id']}/cancel"), 409)


def test_an_error_of_ours_tells_nothing_of_its_cause(client: StackClient) -> None:
    client.add_fault(function="api", call="dynamodb.Query", kind="error", times=10)
    answer = client.call("GET", "/tasks")

    assert _is_problem(answer, 500)
    assert "injected" not in answer.body["detail"]


BY_PATH_ALONE = {
    **{"cancel": 200, "pause": 200, "resume": 200, "run": 200},
    **{"approve": 409, "retry": 409, "unblock": 409},  # of a task that waits for its time
}


def test_a_wish_that_says_all_by_its_path_takes_no_fields(client: StackClient) -> None:
    task = client.create(**REMINDER)
    for verb in BY_PATH_ALONE:
        answer = client.call("POST", f"/tasks/{task['id']}/{verb}", {"colour": "red"})
        assert _is_problem(answer, 422), verb
        assert [error["field"] for error in answer.body["errors"]] == ["colour"]
    assert client.task(task["id"]) == task


@pytest.mark.parametrize("body", [None, {}])
def test_a_wish_may_come_with_an_empty_body_or_none(client: StackClient, body: Any) -> None:
    ids = {verb: client.create(**REMINDER)["id"] for verb in BY_PATH_ALONE}
    answers = {verb: client.call("POST", f"/tasks/{ids[verb]}/{verb}", body) for verb in ids}
    assert {verb: answer.status for verb, answer in answers.items()} == BY_PATH_ALONE


def test_a_wish_with_a_body_that_is_no_object_is_refused(client: StackClient) -> None:
    task = client.create(**REMINDER)
    for verb in BY_PATH_ALONE:
        assert _is_problem(client.call("POST", f"/tasks/{task['id']}/{verb}", b"[1]"), 422)


def test_the_time_of_what_may_have_happened_is_a_conflict(client: StackClient) -> None:
    task = client.create(type="webhook", payload={"url": "http://127.0.0.1:9/"}, **{"in": "1h"})

    def done_but_not_told() -> None:
        store = stores.task_store()
        before = store.get(task["id"])
        run = a_run(nominal_at=before.nominal_at, ended_at=NOW, status=RunStatus.PAUSED_TRANSIENT)
        store.save(
            before, replace(before, run=run.mark_applied({"status": 200})).move_to(Status.PENDING)
        )

    client.stack.scheduler.call(done_but_not_told)
    assert _is_problem(client.call("PATCH", f"/tasks/{task['id']}", {"in": "2h"}), 409)
    assert client.call("PATCH", f"/tasks/{task['id']}", {"description": "walk"}).status == 200
