"""The OpenAPI document matches every route, its requests and its responses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest
import schemathesis

from tests.simulation.tasks_in_every_state import CREATE_BY_STATE, create_in_every_state
from tests.support.api_response import ApiResponse
from tests.support.stack_client import StackClient

Document = dict[str, Any]
TASK_PATH = "/tasks/{task_id}"
CHANGES = ("cancel", "pause", "resume", "run", "retry", "unblock", "approve")
WEBHOOKS = ("POST", "/webhooks/{platform}")
PUBLIC_PATHS = ["/", "/assets/{name}", "/health", "/webhooks/{platform}"]
PAGES = {("GET", "/"), ("GET", "/assets/{name}"), ("GET", "/docs")}
ROUTES = {
    *(("GET", path) for path in ("/health", "/openapi.json", "/me", "/now")),
    *PAGES,
    *(("GET", "/tasks"), ("POST", "/tasks"), ("GET", TASK_PATH), ("PATCH", TASK_PATH)),
    *(
        ("POST", f"{TASK_PATH}/{change}")
        for change in (*CHANGES, "reject", "reclassify", "resolve")
    ),
    *(("GET", f"{TASK_PATH}/{record}") for record in ("runs", "history", "errors")),
    *(("GET", "/retries"), ("GET", "/errors"), ("GET", "/delays"), ("GET", "/patterns")),
    ("DELETE", "/patterns/{policy}/{fingerprint}"),
    *(("DELETE", "/tasks/{task_id}"), ("POST", "/senders/forget")),
    *(("GET", "/subjects/{subject}"), ("POST", "/subjects/{subject}/reset")),
    *(("GET", "/budgets"), ("GET", "/budgets/{budget}"), ("PUT", "/budgets/{budget}")),
    *(("GET", "/policies"), ("GET", "/policies/{policy}"), ("POST", "/explain")),
    *(("GET", "/stats"), ("GET", "/audit")),
    *(("GET", "/breakers"), ("GET", "/breakers/{provider}/history")),
    WEBHOOKS,
    *(("GET", "/dead-letters"), ("POST", "/dead-letters/redrive"), ("POST", "/dead-letters/drop")),
}
# The state that each change needs; all others take a pending task.
STATE_FOR_CHANGE = {
    "/resume": "paused",
    "/retry": "failed",
    "/unblock": "blocked",
    "/approve": "to verify",
    "/reject": "to verify",
    "/reclassify": "retried",
    "/resolve": "indeterminate",
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
    """Return how the response violates its schema."""
    response = operation["responses"][str(answer.status)]
    if "$ref" in response:
        response = document["components"]["responses"][response["$ref"].rpartition("/")[2]]
    content_type = answer.headers["content-type"].partition(";")[0]
    return problems_with(answer.body, response["content"][content_type]["schema"], document)


def test_the_document_has_exactly_the_routes_of_the_api(document: Document) -> None:
    assert {(method, path) for method, path, _ in operations(document)} == ROUTES


def test_the_document_is_valid_openapi(document: Document) -> None:
    assert document["openapi"] == "3.1.0"
    schemathesis.openapi.from_dict(document).validate()


def test_each_operation_has_summary_tags_and_unique_id(document: Document) -> None:
    for method, path, operation in operations(document):
        assert operation["summary"], (method, path)
        assert set(operation["tags"]) <= {tag["name"] for tag in document["tags"]}
    ids = [operation["operationId"] for _, _, operation in operations(document)]
    assert len(set(ids)) == len(ids)


def test_only_health_chat_and_the_dashboards_files_need_no_token(document: Document) -> None:
    public_paths = [
        path for _, path, operation in operations(document) if operation.get("security") == []
    ]
    assert public_paths == PUBLIC_PATHS
    for _, path, operation in operations(document):
        assert ("403" in operation["responses"]) == (path not in PUBLIC_PATHS)


def test_every_operation_documents_422_429_and_500(document: Document) -> None:
    for _, path, operation in operations(document):
        assert {"422", "429", "500"} <= set(operation["responses"]), path


def test_request_bodies_allow_no_unknown_fields(document: Document) -> None:
    for _, path, operation in operations(document):
        if "requestBody" in operation and path != WEBHOOKS[1]:
            schema = operation["requestBody"]["content"]["application/json"]["schema"]
            assert schema["additionalProperties"] is False, path


def test_the_document_lists_the_channels_and_types_of_this_deployment(document: Document) -> None:
    body = document["paths"]["/tasks"]["post"]["requestBody"]["content"]["application/json"]
    properties = body["schema"]["properties"]
    assert "console" in properties["channel"]["anyOf"][0]["enum"]
    assert {"reminder", "action", "webhook"} <= set(properties["type"]["anyOf"][0]["enum"])
    assert properties["description"]["maxLength"] == 4_000


def test_each_response_example_matches_its_schema(document: Document) -> None:
    schemas = document["components"]["schemas"]
    examples_by_name = {
        name: schema["examples"] for name, schema in schemas.items() if "examples" in schema
    }
    assert len(examples_by_name) > 10
    for name, examples in examples_by_name.items():
        for example in examples:
            assert problems_with(example, schemas[name], document) == [], name


def examples_of(operation: Document) -> list[Any]:
    content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    return [example["value"] for example in content.get("examples", {}).values()] or [None]


@pytest.mark.parametrize(("method", "path"), sorted(ROUTES - PAGES))
def test_each_request_example_gets_the_documented_response(
    client: StackClient, document: Document, method: str, path: str
) -> None:
    operation = document["paths"][path][method.lower()]
    for example in examples_of(operation):
        answer = client.call(method, target_of(client, method, operation, path), example)
        assert str(answer.status) == next(iter(operation["responses"])), answer.body
        assert problems_of(answer, operation, document) == []


def target_of(client: StackClient, method: str, operation: Document, path: str) -> str:
    if path == "/errors":
        return "/errors?category=transient"
    if "{task_id}" in path:
        default = "delivered" if method == "DELETE" else "waiting"
        state = STATE_FOR_CHANGE.get(path.removeprefix(TASK_PATH), default)
        return path.format(task_id=CREATE_BY_STATE[state](client))
    parameters = {
        parameter["name"]: parameter["schema"] for parameter in operation.get("parameters", [])
    }
    return path.format(
        **{name: parameter.get("examples", [""])[0] for name, parameter in parameters.items()}
    )


GET_PATHS = sorted(path for method, path in ROUTES - PAGES if method == "GET")


def test_responses_with_tasks_in_every_state_match_the_document(
    client: StackClient, document: Document
) -> None:
    tasks = create_in_every_state(client)
    known = {"subject": "octo/garden", "budget": "default", "policy": "agent"}
    for path in GET_PATHS:
        query = "?subject=octo/garden" if path == "/errors" else ""
        operation = document["paths"][path]["get"]
        for task_id in tasks.values() if "{task_id}" in path else [""]:
            target = path.format(**known, provider="scripted", task_id=task_id) + query
            answer = client.call("GET", target)
            assert answer.status == 200, target
            assert problems_of(answer, operation, document) == [], target


def test_each_webhook_refusal_matches_the_document(shared: StackClient, document: Document) -> None:
    operation = document["paths"][WEBHOOKS[1]]["post"]
    requests = {
        401: ("/webhooks/slack", b"{}"),
        404: ("/webhooks/pigeon", b"{}"),
        413: ("/webhooks/console", b"x" * 2_000_000),
        422: ("/webhooks/console", b"{}"),
    }
    for status, (target, body) in requests.items():
        answer = shared.call("POST", target, body, token=None)
        assert answer.status == status, target
        assert problems_of(answer, operation, document) == []


def test_each_refusal_matches_the_document(shared: StackClient, document: Document) -> None:
    get, post = document["paths"][TASK_PATH]["get"], document["paths"]["/tasks"]["post"]
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
        ("PUT", "/tasks/a1b2c3d4", "DELETE, GET, PATCH"),
        ("GET", "/tasks/a1b2c3d4/cancel", "POST"),
        ("POST", "/health", "GET"),
        ("TRACE", "/openapi.json", "GET"),
    ],
)
def test_a_wrong_method_is_a_405_and_an_unknown_path_a_404(
    shared: StackClient, method: str, target: str, allowed: str
) -> None:
    answer = shared.call(method, target)
    assert (answer.status, answer.headers["allow"]) == (405, allowed)
    assert answer.headers["content-type"] == "application/problem+json"
    assert shared.call(method, "/no-such-route").status == 404
