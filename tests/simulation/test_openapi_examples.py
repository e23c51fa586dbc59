"""The response examples of the OpenAPI document equal real responses."""

from __future__ import annotations

from typing import Any

from tests.support.stack_client import StackClient


def first_example(operation: dict[str, Any]) -> Any:
    request_examples = operation["requestBody"]["content"]["application/json"]["examples"]
    return next(iter(request_examples.values()))["value"]


def test_response_examples_equal_real_responses(client: StackClient) -> None:
    document = client.call("GET", "/openapi.json").body
    paths = document["paths"]
    examples = {
        name: schema["examples"][0]
        for name, schema in document["components"]["schemas"].items()
        if "examples" in schema
    }
    task = client.call("POST", "/tasks", first_example(paths["/tasks"]["post"])).body
    budget = client.call(
        "PUT", "/budgets/default", first_example(paths["/budgets/{budget}"]["put"])
    )
    explained = client.call("POST", "/explain", first_example(paths["/explain"]["post"]))

    assert task == {**examples["Task"], "id": task["id"], "short_id": task["short_id"]}
    assert (budget.body, explained.body) == (examples["Budget"], examples["Explained"])
    assert client.call("GET", "/health").body == examples["Health"]
    problem = client.call("POST", "/dead-letters/redrive", {"colour": "red"})
    assert (problem.status, problem.body) == (422, examples["Problem"])
