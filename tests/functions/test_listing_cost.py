"""GET /tasks with a filter costs what it finds, not what is stored."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta

import pytest
from duecourse.domain.time.instant import from_text

from bench.meter import Meter, Usage
from bench.scan import seed
from local.runtime.template import load_template
from tests.support.api_events import api_event
from tests.support.stack_client import DEFAULT_SHARD_COUNT, StackClient, moto_stack

TOMORROW = from_text("2026-02-18T12:00:00Z")
TASKS = 1_000


@pytest.fixture(scope="module")
def client() -> Iterator[StackClient]:
    with moto_stack(shard_count=DEFAULT_SHARD_COUNT) as client:
        seed(client.stack, TASKS, first_due_at=TOMORROW, interval=timedelta(seconds=1))
        yield client


def cost_of_empty_page(client: StackClient, **query: str) -> Usage:
    event = api_event("GET", "/tasks", query=query, scope="read")
    stack, meter = client.stack, Meter(load_template())
    with meter.observe(stack):
        # Not through stack.invoke: it would wait until the whole stream is processed.
        response = stack.scheduler.call(lambda: stack.functions.invoke("api", event))
    body = json.loads(response["body"])
    assert (body["items"], body["next_cursor"]) == ([], None)
    return meter.usage["api"]


@pytest.mark.parametrize(
    ("query", "queries"),
    [
        ({"status": "failed"}, 4),
        ({"status": "blocked"}, 3),
        ({"status": "pending_verification"}, 1),
        ({"status": "in_progress"}, 22),
        ({"channel": "console", "sender_id": "nobody"}, 1),
    ],
    ids=str,
)
def test_finding_nothing_among_a_thousand_tasks_costs_half_a_unit_a_query(
    client: StackClient, query: dict[str, str], queries: int
) -> None:
    usage = cost_of_empty_page(client, **query)
    assert usage.calls["dynamodb.Query"] == queries
    assert usage.calls["dynamodb.BatchGetItem"] == 0
    assert usage.read_units <= queries / 2 + 1, "and one for the scanner's shards"
