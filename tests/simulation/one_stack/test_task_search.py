"""Searching tasks by text and by error category, over HTTP."""

from __future__ import annotations

import pytest
from duecourse.adapters.aws.dynamodb import task_pages

from tests.simulation.tasks_in_every_state import DOWN
from tests.support.stack_client import StackClient


def search_descriptions(client: StackClient, query: str) -> list[str]:
    return [task["description"] for task in client.items(f"/tasks?{query}")]


def test_a_task_is_found_by_description_id_and_subject(client: StackClient) -> None:
    tea = client.create(description="Make the tea", **{"in": "1h"})
    client.create(description="water the plants", subject="octo/garden", **{"in": "2h"})

    assert search_descriptions(client, "search=TEA") == ["Make the tea"]
    assert search_descriptions(client, f"search={tea['id'][:4].upper()}")[-1] == "Make the tea"
    assert search_descriptions(client, "search=octo%2Fgar") == ["water the plants"]
    # With a status, the soonest comes first; without, the newest.
    assert search_descriptions(client, "search=the&status=pending") == [
        "Make the tea",
        "water the plants",
    ]
    assert search_descriptions(client, "search=coffee") == []
    assert search_descriptions(client, "search=") == search_descriptions(client, "")


def test_tasks_are_found_by_the_category_of_their_last_error(client: StackClient) -> None:
    payload = {"provider": "scripted", "script": [DOWN]}
    client.create(type="action", description="flaky", payload=payload, **{"in": "1s"})
    client.create(**{"in": "5h"})
    client.advance("5s")

    assert search_descriptions(client, "category=transient") == ["flaky"]
    assert search_descriptions(client, "category=transient&status=delivered") == []
    assert search_descriptions(client, "category=unheard-of") == []


@pytest.mark.parametrize(
    "query", ["search=%20", f"search={'x' * 201}", f"category={'x' * 300}", "search=a&search2=b"]
)
def test_an_invalid_filter_is_refused_by_name(shared: StackClient, query: str) -> None:
    answer = shared.call("GET", f"/tasks?{query}")
    field = "search2" if "search2" in query else query.partition("=")[0]
    assert (answer.status, answer.body["errors"][0]["field"]) == (422, field)


@pytest.mark.parametrize("other", ["search=walk", "", "search=tea&category=transient"])
def test_a_cursor_is_bound_to_its_search(client: StackClient, other: str) -> None:
    for _ in range(2):
        client.create(description="tea", **{"in": "5h"})
    cursor = client.call("GET", "/tasks?search=tea&limit=1").body["next_cursor"]

    assert client.call("GET", f"/tasks?{other}&cursor={cursor}").status == 422
    assert len(client.items(f"/tasks?search=tea&cursor={cursor}")) == 1


def test_a_search_with_few_matches_returns_short_pages_with_a_cursor(
    client: StackClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(task_pages, "MAX_READ_ROUNDS", 2)
    rare = client.create(description="rare", **{"in": "5h"})
    client.advance("1s")
    for _ in range(9):
        client.create(**{"in": "5h"})

    pages, cursor = [], ""
    while cursor is not None:
        page = client.call("GET", f"/tasks?search=rare&limit=2&cursor={cursor}").body
        pages.append([task["id"] for task in page["items"]])
        cursor = page["next_cursor"]
    assert pages[:3] == [[], [], [rare["id"]]]
    assert not any(pages[3:])
