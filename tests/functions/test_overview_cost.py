"""GET /now costs what it returns, not what is stored."""

from __future__ import annotations

import json
from datetime import timedelta

from duecourse.domain.time.instant import from_text

from bench.meter import Meter, Usage
from bench.scan import seed
from local.runtime.template import load_template
from tests.support.api_events import api_event
from tests.support.stack_client import DEFAULT_SHARD_COUNT, moto_stack

TOMORROW = from_text("2026-02-18T12:00:00Z")


def _cost(*, open_tasks: int) -> Usage:
    event = api_event("GET", "/now", scope="read")
    with moto_stack(shard_count=DEFAULT_SHARD_COUNT) as client:
        seed(client.stack, open_tasks, first_due_at=TOMORROW, interval=timedelta(seconds=1))
        stack, meter = client.stack, Meter(load_template())
        with meter.observe(stack):
            # Not through stack.invoke: it would wait until the whole stream is processed.
            response = stack.scheduler.call(lambda: stack.functions.invoke("api", event))
        assert len(json.loads(response["body"])["due_soon"]) == 50
        return meter.usage["api"]


def test_five_thousand_open_tasks_cost_no_more_than_five_hundred() -> None:
    few, many = _cost(open_tasks=500), _cost(open_tasks=5_000)

    assert (many.calls, many.read_units) == (few.calls, few.read_units)
    # Three lanes of first attempts and two of retries; long retries, blocked, to be verified.
    assert many.calls["dynamodb.Query"] == 3 * 4 + 2 * 4 + 1 + 3 + 1
    assert many.calls["dynamodb.BatchGetItem"] == 1
    assert (many.read_units < 75, many.write_units) == (True, 0)
