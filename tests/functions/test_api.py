"""The HTTP API: authentication, validation and error responses."""

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

UNKNOWN_ID = "00000000-0000-4000-8000-000000000000"
INVALID_UTF8 = b"\xff\xfe"
REMINDER = {"in": "1h", "description": "stretch", "sender_id": "ada", "reply_target": "ada"}


def _is_problem(response: ApiResponse, status: int) -> bool:
    return (
        response.status == status
        and response.headers["content-type"] == "application/problem+json"
        and response.body["status"] == status
        and response.body.keys() >= {"type", "title", "status", "detail"}
    )


@pytest.mark.parametrize("token", [None, "", "wrong", "Local", "local2", "lokäl"])
def test_a_wrong_token_gets_401(client: StackClient, token: str | None) -> None:
    response = client.call("GET", "/tasks", token=token)

    assert _is_problem(response, 401)
    assert response.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize("header", ["Basic local", "local", "Bearer", "Bearer local local"])
def test_only_a_bearer_token_is_accepted(client: StackClient, header: str) -> None:
    response = client.call("GET", "/tasks", token=None, headers={"authorization": header})

    assert _is_problem(response, 401)


def test_the_bearer_scheme_is_case_insensitive(client: StackClient) -> None:
    response = client.call("GET", "/tasks", token=None, headers={"authorization": "bearer local"})

    assert response.status == 200


def test_an_unknown_route_without_a_token_gets_401(client: StackClient) -> None:
    assert _is_problem(client.call("GET", "/no-such-route", token=None), 401)


def test_health_needs_no_token(client: StackClient) -> None:
    response = client.call("GET", "/health", token=None)

    assert (response.status, response.body["status"]) == (200, "ok")
    assert response.headers["content-type"] == "application/json"


@pytest.mark.parametrize(
    ("method", "target"),
    [
        ("GET", "/no-such-route"),
        ("GET", f"/tasks/{UNKNOWN_ID}"),
        ("GET", f"/tasks/{UNKNOWN_ID}/history"),
        ("POST", f"/tasks/{UNKNOWN_ID}/cancel"),
        ("GET", "/tasks/short"),
    ],
)
def test_unknown_routes_and_tasks_are_404(client: StackClient, method: str, target: str) -> None:
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
def test_an_invalid_field_is_named(client: StackClient, change: dict[str, Any], field: str) -> None:
    response = client.call("POST", "/tasks", REMINDER | change)

    assert _is_problem(response, 422)
    assert [error["field"] for error in response.body["errors"]] == [field]
    assert all(error["message"] for error in response.body["errors"])


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'"text"', b"null", INVALID_UTF8])
def test_a_body_other_than_an_object_is_refused(client: StackClient, body: bytes) -> None:
    assert _is_problem(client.call("POST", "/tasks", body), 422)


def test_an_action_in_the_wrong_status_is_a_conflict(client: StackClient) -> None:
    task = client.create(**{"in": "10s"})
    client.advance("1m")

    assert _is_problem(client.call("POST", f"/tasks/{task['id']}/cancel"), 409)


def test_an_internal_error_does_not_reveal_its_cause(client: StackClient) -> None:
    client.add_fault(function="api", call="dynamodb.Query", kind="error", times=10)
    response = client.call("GET", "/tasks")

    assert _is_problem(response, 500)
    assert "injected" not in response.body["detail"]


STATUS_BY_ACTION = {
    **{"cancel": 200, "pause": 200, "resume": 200, "run": 200},
    **{"approve": 409, "retry": 409, "unblock": 409},  # for a pending task
}


def test_an_action_without_fields_refuses_a_field(client: StackClient) -> None:
    task = client.create(**REMINDER)
    for action in STATUS_BY_ACTION:
        response = client.call("POST", f"/tasks/{task['id']}/{action}", {"colour": "red"})
        assert _is_problem(response, 422), action
        assert [error["field"] for error in response.body["errors"]] == ["colour"]
    assert client.task(task["id"]) == task


@pytest.mark.parametrize("body", [None, {}])
def test_an_action_accepts_an_empty_body_or_none(client: StackClient, body: Any) -> None:
    ids = {action: client.create(**REMINDER)["id"] for action in STATUS_BY_ACTION}
    responses = {
        action: client.call("POST", f"/tasks/{ids[action]}/{action}", body) for action in ids
    }
    assert {action: response.status for action, response in responses.items()} == STATUS_BY_ACTION


def test_an_action_refuses_a_body_other_than_an_object(client: StackClient) -> None:
    task = client.create(**REMINDER)
    for action in STATUS_BY_ACTION:
        assert _is_problem(client.call("POST", f"/tasks/{task['id']}/{action}", b"[1]"), 422)


def test_rescheduling_a_task_with_an_applied_mutation_is_a_conflict(client: StackClient) -> None:
    task = client.create(type="webhook", payload={"url": "http://127.0.0.1:9/"}, **{"in": "1h"})

    def store_applied_mutation() -> None:
        store = stores.task_store()
        before = store.get(task["id"])
        run = a_run(nominal_at=before.nominal_at, ended_at=NOW, status=RunStatus.PAUSED_TRANSIENT)
        store.save(
            before, replace(before, run=run.mark_applied({"status": 200})).move_to(Status.PENDING)
        )

    client.stack.scheduler.call(store_applied_mutation)
    assert _is_problem(client.call("PATCH", f"/tasks/{task['id']}", {"in": "2h"}), 409)
    assert client.call("PATCH", f"/tasks/{task['id']}", {"description": "walk"}).status == 200
