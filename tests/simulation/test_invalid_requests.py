"""Malformed requests: each is refused with the name of its part, none is a server error."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.stack_client import StackClient, running_stack

VALID_BODY = {"in": "1h", "description": "stretch"}
ODD_PARTS = [
    "%00",
    "%0A",
    "..%2F..",
    "%F0%9F%92%A9",
    "%FF%FE",
    "a" * 3000,
    "%25",
    "%20",
    "a%00b",
    "'\"",
]
EXPECTED_STATUSES = {200, 404, 422}


@pytest.fixture(scope="module")
def shared() -> Iterator[StackClient]:
    with running_stack() as started:
        yield started


@pytest.mark.parametrize(
    "path",
    [
        *("/tasks/{}", "/tasks/{}/runs", "/subjects/{}", "/budgets/{}", "/policies/{}"),
        *("/breakers/{}/history", "/{}", "/stats?days={}", "/tasks?cursor={}", "/tasks?type={}"),
        *("/errors?subject={}", "/audit?day={}", "/tasks?{}=1"),
    ],
)
def test_an_odd_part_of_a_url_is_not_a_server_error(shared: StackClient, path: str) -> None:
    statuses = {part: shared.call("GET", path.format(part)).status for part in ODD_PARTS}
    assert {
        part: status for part, status in statuses.items() if status not in EXPECTED_STATUSES
    } == {}


@pytest.mark.parametrize("query", ["limit=1&limit=2", "status=pending&status=failed"])
def test_a_repeated_parameter_is_refused(shared: StackClient, query: str) -> None:
    answer = shared.call("GET", f"/tasks?{query}")
    assert (answer.status, answer.body["errors"][0]["field"]) == (422, query.partition("=")[0])


@pytest.mark.parametrize(
    ("method", "target", "body"),
    [
        ("GET", "/tasks/{}/runs?limit=1", None),
        ("GET", "/tasks/{}?colour=1", None),
        ("GET", "/policies?colour=1", None),
        ("POST", "/tasks?colour=1", VALID_BODY),
        ("POST", "/tasks/{}/cancel?colour=1", None),
        ("PUT", "/budgets/llm?colour=1", {"limit": 1}),
    ],
)
def test_an_unknown_parameter_is_refused_and_changes_nothing(
    shared: StackClient, method: str, target: str, body: Any
) -> None:
    task = shared.create(**{"in": "1h"})
    before = shared.items("/tasks?limit=200")
    answer = shared.call(method, target.format(task["id"]), body)
    assert (answer.status, answer.body["detail"].endswith("unknown field")) == (422, True)
    assert shared.items("/tasks?limit=200") == before


def test_health_accepts_any_parameter(shared: StackClient) -> None:
    assert shared.call("GET", "/health?cache-buster=1", token=None).status == 200


def test_the_token_is_checked_before_the_parameters(shared: StackClient) -> None:
    assert shared.call("GET", "/policies?colour=1", token=None).status == 401


def test_a_too_long_subject_is_refused(shared: StackClient) -> None:
    for method, rest in (("GET", ""), ("POST", "/reset")):
        answer = shared.call(method, f"/subjects/{'x' * 257}{rest}")
        assert (answer.status, answer.body["errors"][0]["field"]) == (422, "subject")


def test_a_subject_reset_accepts_no_fields(shared: StackClient) -> None:
    answer = shared.call("POST", "/subjects/octo/garden/reset", {"colour": "red"})
    assert (answer.status, answer.body["errors"][0]["field"]) == (422, "colour")


@pytest.mark.parametrize("key", ["", " ", "x" * 256])
def test_an_invalid_idempotency_key_is_refused(shared: StackClient, key: str) -> None:
    answer = shared.call("POST", "/tasks", VALID_BODY, headers={"idempotency-key": key})
    assert (answer.status, answer.body["errors"][0]["field"]) == (422, "Idempotency-Key")


def test_an_idempotency_key_may_have_non_ascii_characters(shared: StackClient) -> None:
    answers = [
        shared.call("POST", "/tasks", VALID_BODY, headers={"idempotency-key": "schlüssel-鍵"})
        for _ in range(2)
    ]
    assert [answer.status for answer in answers] == [201, 200]
