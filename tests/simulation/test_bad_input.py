"""Bad input is refused at the door, by the name of its field, and nothing is stored."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.stack_client import StackClient, running_stack

GOOD = {"in": "1h", "description": "stretch", "sender_id": "ada"}
BAD = [
    ({**GOOD, "colour": "red"}, "colour"),
    ({**GOOD, "timezone": "Mars/Olympus"}, "timezone"),
    ({**GOOD, "timezone": "+01:00"}, "timezone"),
    ({"description": "x", "due_at": "2020-01-01T00:00:00Z"}, "due_at"),
    ({"description": "x", "due_at": "tomorrow"}, "due_at"),
    ({"description": "x", "due_at": "2026-02-30T00:00:00Z"}, "due_at"),
    ({"description": "x"}, "due_at"),
    ({**GOOD, "due_at": "2026-03-01T00:00:00Z"}, "in"),
    ({**GOOD, "in": "soon"}, "in"),
    ({**GOOD, "in": -1}, "in"),
    ({**GOOD, "in": 1e300}, "in"),
    ({"in": "1h"}, "description"),
    ({**GOOD, "description": "x" * 5_000}, "description"),
    ({**GOOD, "description": "  "}, "description"),
    ({**GOOD, "description": "\ud800"}, "description"),
    ({**GOOD, "repeat": "0 0 30 2 *"}, "repeat"),
    ({**GOOD, "repeat": "RRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30"}, "repeat"),
    ({**GOOD, "repeat": "sometimes"}, "repeat"),
    ({**GOOD, "payload": {"spec": "y" * 40 * 1024}}, "payload"),
    ({**GOOD, "payload": []}, "payload"),
    ({**GOOD, "channel": "fax"}, "channel"),
    ({**GOOD, "type": "unheard"}, "type"),
    ({**GOOD, "policy": "none"}, "policy"),
    ({**GOOD, "max_retries": 0}, "max_retries"),
    ({**GOOD, "max_retries": True}, "max_retries"),
    (b"not json", "body"),
    (b"[]", "body"),
    (b'{"in": NaN}', "body"),
    (b"[" * 100_000, "body"),
]


@pytest.fixture(scope="module")
def shared() -> Iterator[StackClient]:
    """One stack for all: nothing here changes anything."""
    with running_stack() as running:
        yield running


@pytest.mark.parametrize(("body", "field"), BAD)
def test_bad_input_is_refused_by_the_name_of_its_field(
    shared: StackClient, body: Any, field: str
) -> None:
    answer = shared.call("POST", "/tasks", body)

    assert answer.status == 422
    assert answer.headers["content-type"] == "application/problem+json"
    assert set(answer.body) == {"type", "title", "status", "detail", "errors"}
    assert field in [error["field"] for error in answer.body["errors"]]
    assert shared.items("/tasks") == []


@pytest.mark.parametrize("token", [None, "wrong", "", "lócal", "local x"])
@pytest.mark.parametrize("target", ["/tasks", "/tasks/a1b2c3d4", "/no-such-route"])
def test_without_the_token_nothing_is_told(
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
