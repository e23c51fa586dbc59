"""The description's examples of answers are what is answered, to the letter."""

from __future__ import annotations

from typing import Any

from tests.support.stack_client import StackClient


def first_example(operation: dict[str, Any]) -> Any:
    examples = operation["requestBody"]["content"]["application/json"]["examples"]
    return next(iter(examples.values()))["value"]


def test_the_examples_are_what_is_answered(client: StackClient) -> None:
    document = client.call("GET", "/openapi.json").body
    paths = document["paths"]
    shown = {
        name: shape["examples"][0]
        for name, shape in document["components"]["schemas"].items()
        if "examples" in shape
    }
    task = client.call("POST", "/tasks", first_example(paths["/tasks"]["post"])).body
    budget = client.call(
        "PUT", "/budgets/default", first_example(paths["/budgets/{budget}"]["put"])
    )
    explained = client.call("POST", "/explain", first_example(paths["/explain"]["post"]))

    assert task == {**shown["Task"], "id": task["id"], "short_id": task["short_id"]}
    assert (budget.body, explained.body) == (shown["Budget"], shown["Explained"])
    assert client.call("GET", "/health").body == shown["Health"]
    problem = client.call("POST", "/dead-letters/redrive", {"colour": "red"})
    assert (problem.status, problem.body) == (422, shown["Problem"])
