"""The meter counts what the real calls of one reminder are billed as."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bench.cost import make_bill
from bench.meter import POLLER, Meter, Usage
from local.runtime.call_interceptor import Call
from local.runtime.template import load_template
from tests.support.stack_client import StackClient, running_stack


@pytest.fixture
def client() -> Iterator[StackClient]:
    with running_stack() as running:
        yield running


@pytest.fixture
def meter(client: StackClient) -> Iterator[Meter]:
    meter = Meter(load_template())
    with meter.observe(client.stack):
        yield meter


def test_creating_a_task_costs_its_put_and_three_index_entries(
    client: StackClient, meter: Meter
) -> None:
    client.create(**{"in": "1h"})

    assert meter.usage["api"].write_units == 4
    assert meter.usage["api"].invocations == 1


def test_a_run_costs_a_read_a_claim_and_a_commit_that_leaves_two_indexes(
    client: StackClient, meter: Meter
) -> None:
    client.create(**{"in": "10s"})
    client.advance("1m")

    quiet_hours = 0.5  # looked up once a minute
    assert meter.usage["worker"].read_units == 1 + quiet_hours
    assert meter.usage["worker"].write_units == 4


def test_a_refused_write_is_counted_and_changes_nothing(client: StackClient, meter: Meter) -> None:
    key = {"idempotency-key": "once"}
    body = {"in": "1h", "description": "stretch", "sender_id": "ada", "reply_target": "ada"}
    assert client.call("POST", "/tasks", body, headers=key).status == 201
    client.advance("1s")
    assert client.call("POST", "/tasks", body, headers=key).status == 200

    assert meter.usage["api"].write_units == 4 + 1
    assert meter.usage["api"].read_units == 1


def test_a_message_costs_its_send_its_receipt_and_its_deletion(
    client: StackClient, meter: Meter
) -> None:
    client.create(**{"in": "10s"})
    client.advance("1m")

    assert meter.usage["api"].sqs_requests == 1
    assert meter.usage[POLLER].sqs_requests == 2


def test_each_event_on_the_bus_is_counted(client: StackClient, meter: Meter) -> None:
    client.create(**{"in": "10s"})
    client.advance("1m")

    assert meter.usage["journal"].bus_events == 3  # made, started, delivered
    assert meter.unknown_operations == set()


def test_a_large_event_on_the_bus_counts_more_than_once(client: StackClient, meter: Meter) -> None:
    del client
    entries = [{"Detail": "x" * size} for size in (1, 64 * 1024, 64 * 1024 + 1, 250_000)]
    meter.on_call(Call("journal", "events", "PutEvents", {"Entries": entries}, {}, 1))

    assert meter.usage["journal"].bus_events == 1 + 1 + 2 + 4


@pytest.mark.fault_may_miss
def test_the_live_and_alerts_functions_are_counted(client: StackClient, meter: Meter) -> None:
    client.add_fault(call="never.made")  # no tick is skipped while a fault is pending
    client.create(**{"in": "10s"})
    client.advance("5m")

    assert meter.usage["live"].invocations >= 1
    assert meter.usage["alerts"].invocations == 2  # at 12:00 and 12:05


def test_bus_events_are_billed_separately() -> None:
    result = make_bill({"journal": Usage(write_units=1, bus_events=3)}, 1, "whole minutes")

    assert result.bus_events == 3
    assert (
        result.dollars == make_bill({"journal": Usage(write_units=1)}, 1, "whole minutes").dollars
    )


def test_a_transaction_costs_double(client: StackClient) -> None:
    meter = Meter(load_template())
    item = {"key": {"S": "scanner"}, "value": {"S": "{}"}}
    put = {"Put": {"TableName": "StateTable", "Item": item}}
    meter.on_call(Call("worker", "dynamodb", "TransactWriteItems", {"TransactItems": [put]}, {}, 1))

    assert client.stack.calls.counts["worker", "dynamodb.TransactWriteItems"] == 0
    assert meter.usage["worker"].write_units == 2


def test_an_unknown_operation_is_reported(client: StackClient, meter: Meter) -> None:
    del client
    meter.on_call(Call("worker", "dynamodb", "ExecuteStatement", {}, {}, 1))
    meter.on_call(Call("worker", "events", "PutRule", {}, {}, 1))

    assert meter.unknown_operations == {"ExecuteStatement", "PutRule"}


def test_a_bill_names_the_exceeded_targets() -> None:
    result = make_bill({"worker": Usage(write_units=13, read_units=1)}, 1, "whole minutes")

    assert result.exceeded_targets == ["write_units"]
