"""A scan costs what is due, not what is stored."""

from __future__ import annotations

from datetime import timedelta

from duecourse.domain.time.instant import from_text

from bench.meter import Usage
from bench.scan import measure_scan, seed
from tests.support.stack_client import DEFAULT_SHARD_COUNT, moto_stack

# Between two ticks, so that no look of the stack's own comes before ours.
NOW = "2026-02-17T12:00:30Z"
DUE_SOON = from_text("2026-02-17T12:01:30Z")
NEXT_WEEK = from_text("2026-02-24T12:00:00Z")


def _cost_of_ten_due(*, stored_for_next_week: int) -> Usage:
    with moto_stack(NOW, shard_count=DEFAULT_SHARD_COUNT) as client:
        seed(
            client.stack,
            stored_for_next_week,
            first_due_at=NEXT_WEEK,
            interval=timedelta(seconds=1),
        )
        seed(client.stack, 10, first_due_at=DUE_SOON, interval=timedelta(seconds=1))
        dispatched, spent = measure_scan(client.stack)
        assert dispatched == 10
        return spent


def test_ten_thousand_tasks_due_next_week_do_not_change_what_a_scan_costs() -> None:
    assert _cost_of_ten_due(stored_for_next_week=10_000) == _cost_of_ten_due(stored_for_next_week=0)


def test_a_scan_of_ten_due_tasks_costs_a_query_per_partition_and_nothing_per_task() -> None:
    spent = _cost_of_ten_due(stored_for_next_week=0)

    assert spent.calls["dynamodb.Query"] == 5 * 4 + 2  # five lanes in four shards, two in one
    assert spent.calls["dynamodb.GetItem"] == spent.calls["dynamodb.PutItem"] == 1
    assert (spent.read_units, spent.write_units) == (12.0, 1.0)
