"""The API's description is true: of every route, of what it takes and of what it answers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest
import schemathesis

from tests.simulation.every_state import MAKERS, in_every_state
from tests.support.api_response import ApiResponse
from tests.support.stack_client import StackClient

Document = dict[str, Any]
ONE = "/tasks/{task_id}"
WISHES = ("cancel", "pause", "resume", "run", "retry", "unblock", "approve")
WEBHOOKS = ("POST", "/webhooks/{platform}")
OPEN = ["/", "/assets/{name}", "/health", "/webhooks/{platform}"]
PAGES = {("GET", "/"), ("GET", "/assets/{name}"), ("GET", "/docs")}
ROUTES = {
    *(("GET", path) for path in ("/health", "/openapi.json", "/now")),
    *PAGES,
    *(("GET", "/tasks"), ("POST", "/tasks"), ("GET", ONE), ("PATCH", ONE)),
    *(("POST", f"{ONE}/{wish}") for wish in (*WISHES, "reject", "reclassify", "resolve")),
    *(("GET", f"{ONE}/{record}") for record in ("runs", "history", "errors")),
    *(("GET", "/retries"), ("GET", "/errors"), ("GET", "/delays"), ("GET", "/patterns")),
    ("DELETE", "/patterns/{policy}/{fingerprint}"),
    *(("GET", "/subjects/{subject}"), ("POST", "/subjects/{subject}/reset")),
    *(("GET", "/budgets"), ("GET", "/budgets/{budget}"), ("PUT", "/budgets/{budget}")),
    *(("GET", "/policies"), ("GET", "/policies/{policy}"), ("POST", "/explain")),
    *(("GET", "/stats"), ("GET", "/audit")),
    *(("GET", "/breakers"), ("GET", "/breakers/{provider}/history")),
    WEBHOOKS,
    *(("GET", "/dead-letters"), ("POST", "/dead-letters/redrive"), ("POST", "/dead-letters/drop")),
}
# Which task each wish is for; all others are for one that waits.
FIT = {
    "/resume": "paused",
    "/retry": "failed",
    "/unblock": "blocked",
    "/approve": "to verify",
    "/reject": "to verify",
    "/reclassify": "retried",
    "/resolve": "in doubt",
}


@pytest.fixture(scope="module")
def document(shared: StackClient) -> Document:
    return dict(shared.call("GET", "/openapi.json").body)


def operations(document: Document) -> Iterator[tuple[str, str, Document]]:
    for path, item in document["paths"].items():
        for method, operation in item.items():
            yield method.upper(), path, operation


def problems_with(value: Any, schema: Any, document: Document) -> list[str]:
    rooted = {**schema, "components": document["components"]}
    validator = jsonschema_rs.Draft202012Validator(rooted, validate_formats=True)
    return [f"{error.instance_path}: {error.message}" for error in validator.iter_errors(value)]


def problems_of(answer: ApiResponse, operation: Document, document: Document) -> list[str]:
    """What the answer has that its description has not."""
    told = operation["responses"][str(answer.status)]
    if "$ref" in told:
        told = document["components"]["responses"][told["$ref"].rpartition("/")[2]]
    content_type = answer.headers["content-type"].partition(";")[0]
    return problems_with(answer.body, told["content"][content_type]["schema"], document)


def test_every_route_is_described_and_none_invented(document: Document) -> None:
    assert {(method, path) for method, path, _ in operations(document)} == ROUTES


def test_it_is_openapi(document: Document) -> None:
    assert document["openapi"] == "3.1.0"
    schemathesis.openapi.from_dict(document).validate()


def test_each_operation_tells_what_it_does(document: Document) -> None:
    for method, path, operation in operations(document):
        assert operation["summary"], (method, path)
        assert set(operation["tags"]) <= {tag["name"] for tag in document["tags"]}
    ids = [operation["operationId"] for _, _, operation in operations(document)]
    assert len(set(ids)) == len(ids)


def test_only_health_chat_and_the_dashboards_files_need_no_token(document: Document) -> None:
    unguarded = [path for _, path, told in operations(document) if told.get("security") == []]
    assert unguarded == OPEN
    for _, path, operation in operations(document):
        assert ("403" in operation["responses"]) == (path not in OPEN)


def test_every_operation_tells_what_may_be_answered_in_its_place(document: Document) -> None:
    for _, path, operation in operations(document):
        assert {"422", "429", "500"} <= set(operation["responses"]), path


def test_what_is_not_known_is_not_described_as_welcome(document: Document) -> None:
    for _, path, operation in operations(document):
        if "requestBody" in operation and path != WEBHOOKS[1]:
            schema = operation["requestBody"]["content"]["application/json"]["schema"]
            assert schema["additionalProperties"] is False, path


def test_the_offer_of_this_deployment_is_told(document: Document) -> None:
    body = document["paths"]["/tasks"]["post"]["requestBody"]["content"]["application/json"]
    told = body["schema"]["properties"]
    assert "console" in told["channel"]["anyOf"][0]["enum"]
    assert {"reminder", "action", "webhook"} <= set(told["type"]["anyOf"][0]["enum"])
    assert told["description"]["maxLength"] == 4_000


def test_each_example_of_an_answer_fits_its_shape(document: Document) -> None:
    shapes = document["components"]["schemas"]
    shown = {name: shape["examples"] for name, shape in shapes.items() if "examples" in shape}
    assert len(shown) > 10
    for name, examples in shown.items():
        for example in examples:
            assert problems_with(example, shapes[name], document) == [], name


def examples_of(operation: Document) -> list[Any]:
    content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    return [example["value"] for example in content.get("examples", {}).values()] or [None]


@pytest.mark.parametrize(("method", "path"), sorted(ROUTES - PAGES))
def test_each_example_is_answered_as_described(
    client: StackClient, document: Document, method: str, path: str
) -> None:
    operation = document["paths"][path][method.lower()]
    for example in examples_of(operation):
        answer = client.call(method, target_of(client, operation, path), example)
        assert str(answer.status) == next(iter(operation["responses"])), answer.body
        assert problems_of(answer, operation, document) == []


def target_of(client: StackClient, operation: Document, path: str) -> str:
    if path == "/errors":
        return "/errors?category=transient"
    if "{task_id}" in path:
        state = FIT.get(path.removeprefix(ONE), "waiting")
        return path.format(task_id=MAKERS[state](client))
    given = {one["name"]: one["schema"] for one in operation.get("parameters", [])}
    return path.format(**{name: one.get("examples", [""])[0] for name, one in given.items()})


READS = sorted(path for method, path in ROUTES - PAGES if method == "GET")


def test_a_full_system_is_answered_as_described(client: StackClient, document: Document) -> None:
    tasks = in_every_state(client)
    known = {"subject": "octo/garden", "budget": "default", "policy": "agent"}
    for path in READS:
        query = "?subject=octo/garden" if path == "/errors" else ""
        operation = document["paths"][path]["get"]
        for task_id in tasks.values() if "{task_id}" in path else [""]:
            target = path.format(**known, provider="scripted", task_id=task_id) + query
            answer = client.call("GET", target)
            assert answer.status == 200, target
            assert problems_of(answer, operation, document) == [], target


def test_each_refusal_of_chat_is_described(shared: StackClient, document: Document) -> None:
    operation = document["paths"][WEBHOOKS[1]]["post"]
    refused = {
        401: ("/webhooks/slack", b"{}"),
        404: ("/webhooks/pigeon", b"{}"),
        413: ("/webhooks/console", b"x" * 2_000_000),
        422: ("/webhooks/console", b"{}"),
    }
    for status, (target, body) in refused.items():
        answer = shared.call("POST", target, body, token=None)
        assert answer.status == status, target
        assert problems_of(answer, operation, document) == []


def test_each_refusal_is_described(shared: StackClient, document: Document) -> None:
    get, post = document["paths"][ONE]["get"], document["paths"]["/tasks"]["post"]
    unknown = shared.call("GET", "/tasks/00000000")
    stranger = shared.call("GET", "/tasks/00000000", token="wrong")
    bad = shared.call("POST", "/tasks", {"colour": "red"})
    assert [unknown.status, stranger.status, bad.status] == [404, 401, 422]
    for answer, operation in ((unknown, get), (stranger, get), (bad, post)):
        assert problems_of(answer, operation, document) == []


@pytest.mark.parametrize(
    ("method", "target", "allowed"),
    [
        ("DELETE", "/tasks", "GET, POST"),
        ("PUT", "/tasks/a1b2c3d4", "GET, PATCH"),
        ("GET", "/tasks/a1b2c3d4/cancel", "POST"),
        ("POST", "/health", "GET"),
        ("TRACE", "/openapi.json", "GET"),
    ],
)
def test_a_method_that_a_path_does_not_have_is_told_from_one_that_nobody_has(
    shared: StackClient, method: str, target: str, allowed: str
) -> None:
    answer = shared.call(method, target)
    assert (answer.status, answer.headers["allow"]) == (405, allowed)
    assert answer.headers["content-type"] == "application/problem+json"
    assert shared.call(method, "/no-such-route").status == 404
