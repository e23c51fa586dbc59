"""Invalid requests are refused with the name of the field, and nothing is stored."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.stack_client import StackClient, running_stack

VALID_BODY = {"in": "1h", "description": "stretch", "sender_id": "ada"}
INVALID_BODIES = [
    ({**VALID_BODY, "colour": "red"}, "colour"),
    ({**VALID_BODY, "timezone": "Mars/Olympus"}, "timezone"),
    ({**VALID_BODY, "timezone": "+01:00"}, "timezone"),
    ({"description": "x", "due_at": "2020-01-01T00:00:00Z"}, "due_at"),
    ({"description": "x", "due_at": "tomorrow"}, "due_at"),
    ({"description": "x", "due_at": "2026-02-30T00:00:00Z"}, "due_at"),
    ({"description": "x"}, "due_at"),
    ({**VALID_BODY, "due_at": "2026-03-01T00:00:00Z"}, "in"),
    ({**VALID_BODY, "in": "soon"}, "in"),
    ({**VALID_BODY, "in": -1}, "in"),
    ({**VALID_BODY, "in": 1e300}, "in"),
    ({"in": "1h"}, "description"),
    ({**VALID_BODY, "description": "x" * 5_000}, "description"),
    ({**VALID_BODY, "description": "  "}, "description"),
    ({**VALID_BODY, "description": "\ud800"}, "description"),
    ({**VALID_BODY, "repeat": "0 0 30 2 *"}, "repeat"),
    ({**VALID_BODY, "repeat": "RRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30"}, "repeat"),
    ({**VALID_BODY, "repeat": "sometimes"}, "repeat"),
    ({**VALID_BODY, "payload": {"spec": "y" * 40 * 1024}}, "payload"),
    ({**VALID_BODY, "payload": []}, "payload"),
    ({**VALID_BODY, "channel": "fax"}, "channel"),
    ({**VALID_BODY, "type": "unheard"}, "type"),
    ({**VALID_BODY, "policy": "none"}, "policy"),
    ({**VALID_BODY, "max_retries": 0}, "max_retries"),
    ({**VALID_BODY, "max_retries": True}, "max_retries"),
    (b"not json", "body"),
    (b"[]", "body"),
    (b'{"in": NaN}', "body"),
    (b"[" * 100_000, "body"),
]


@pytest.fixture(scope="module")
def shared() -> Iterator[StackClient]:
    """One stack for the module, because no test changes it."""
    with running_stack() as started:
        yield started


@pytest.mark.parametrize(("body", "field"), INVALID_BODIES)
def test_an_invalid_field_is_refused_by_name(shared: StackClient, body: Any, field: str) -> None:
    answer = shared.call("POST", "/tasks", body)

    assert answer.status == 422
    assert answer.headers["content-type"] == "application/problem+json"
    assert set(answer.body) == {"type", "title", "status", "detail", "errors"}
    assert field in [error["field"] for error in answer.body["errors"]]
    assert shared.items("/tasks") == []


@pytest.mark.parametrize("token", [None, "wrong", "", "lócal", "local x"])
@pytest.mark.parametrize("target", ["/tasks", "/tasks/a1b2c3d4", "/no-such-route"])
def test_a_request_without_a_valid_token_is_a_401(
    shared: StackClient, target: str, token: str | None
) -> None:
    answer = shared.call("GET", target, token=token)

    assert (answer.status, answer.body["title"]) == (401, "Unauthorized")


def test_health_needs_no_token(shared: StackClient) -> None:
    assert shared.call("GET", "/health", token=None).status == 200


@pytest.mark.parametrize("task_id", ["a1b2c3d4", "nonsense", "a1b2", "%00", "x" * 3000])
def test_an_unknown_id_is_a_404(shared: StackClient, task_id: str) -> None:
    assert shared.call("GET", f"/tasks/{task_id}").status == 404


@pytest.mark.parametrize("query", ["status=odd", "limit=0", "limit=x", "cursor=x", "colour=red"])
def test_a_bad_query_names_its_parameter(shared: StackClient, query: str) -> None:
    answer = shared.call("GET", f"/tasks?{query}")

    assert answer.status == 422
    assert answer.body["errors"][0]["field"] == query.partition("=")[0]
