"""The meter counts what the real calls of one reminder are billed as."""

from __future__ import annotations

import json
from collections.abc import Iterator
from io import BytesIO, TextIOWrapper
from typing import Any

import pytest

from bench.bill import Bill, make_bill
from bench.log_meter import EVENT_OVERHEAD, system_log_bytes
from bench.meter import POLLER, FailedInvocationError, Meter, NotUnderstoodError, Usage
from bench.prices import PER_GB_SECOND_ARM64, Pricing
from bench.scenario import Batches, make_template
from functions.worker import app as worker
from local.runtime.call_interceptor import Call, attribute_calls_to
from local.runtime.functions import InvocationError
from local.runtime.template import load_template, resources_of_type
from tests.support.bus_listener import BusListener
from tests.support.stack_client import DEFAULT_SHARD_COUNT, StackClient, moto_stack


@pytest.fixture
def client() -> Iterator[StackClient]:
    with moto_stack(shard_count=DEFAULT_SHARD_COUNT) as running:
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


def test_a_reminder_costs_a_claim_without_a_read_and_a_commit_that_leaves_one_index(
    client: StackClient, meter: Meter
) -> None:
    client.create(**{"in": "10m"})
    client.advance("11m")

    quiet_hours = 0.5  # looked up once a minute
    assert meter.usage["worker"].read_units == quiet_hours
    assert meter.usage["worker"].write_units == 1 + 2


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
    client.create(**{"in": "10m"})
    client.advance("11m")

    assert meter.usage["scanner"].sqs_requests == 1
    assert meter.usage[POLLER].sqs_requests == 2


def test_each_event_on_the_bus_is_counted(client: StackClient, meter: Meter) -> None:
    BusListener()  # without a rule, nothing is published
    client.create(**{"in": "10s"})
    client.advance("1m")

    assert meter.usage["journal"].bus_events == 3  # made, started, delivered
    assert meter.unknown_operations == set()


def test_a_large_event_on_the_bus_counts_more_than_once(client: StackClient, meter: Meter) -> None:
    del client
    entries = [{"Detail": "x" * size} for size in (1, 64 * 1024, 64 * 1024 + 1, 250_000)]
    meter.on_call(_make_call("journal", "events", "PutEvents", {"Entries": entries}))

    assert meter.usage["journal"].bus_events == 1 + 1 + 2 + 4


@pytest.mark.fault_may_miss
def test_the_live_and_alerts_functions_are_counted(client: StackClient, meter: Meter) -> None:
    client.add_fault(call="never.made")  # no tick is skipped while a fault is pending
    client.create(**{"in": "10s"})
    client.advance("5m")

    assert meter.usage["live"].invocations >= 1
    assert meter.usage["alerts"].invocations == 2  # at 12:00 and 12:05


def _bill(**usage: Usage) -> Bill:
    return make_bill(usage, 1, Pricing(load_template()))


def test_bus_events_and_requests_are_part_of_the_price() -> None:
    bill = _bill(journal=Usage(bus_events=3), api=Usage(invocations=1))

    assert bill.prices["event bus"] == pytest.approx(3.00)
    assert bill.prices["HTTP API"] == pytest.approx(1.00)
    assert bill.dollars == pytest.approx(sum(bill.prices.values()))


def test_a_sleeping_worker_is_billed_with_its_own_memory() -> None:
    template = make_template(Batches.OF_ONE)
    template["Resources"]["WorkerFunction"]["Properties"]["MemorySize"] = 128
    asleep = Pricing(template).price({"worker": Usage(slept_seconds=2)})

    assert asleep["Lambda GB-seconds"] == pytest.approx(2 * 128 / 1024 * PER_GB_SECOND_ARM64)


def test_half_the_memory_takes_twice_the_time_for_the_same_work() -> None:
    template = make_template(Batches.OF_ONE)
    work = {"worker": Usage(invocations=10)}
    usual = Pricing(template).gb_seconds(work)
    template["Resources"]["WorkerFunction"]["Properties"]["MemorySize"] //= 2

    assert Pricing(template).gb_seconds(work) == pytest.approx(usual)


def test_the_sleep_before_the_due_time_is_counted(client: StackClient, meter: Meter) -> None:
    # SQS delays by whole seconds, so the worker sleeps for the rest.
    client.create(due_at="2026-02-17T12:00:10.500Z")
    client.advance("1m")

    assert meter.usage["worker"].slept_seconds == pytest.approx(0.5, abs=0.01)


def test_the_lines_of_each_function_are_counted(client: StackClient) -> None:
    meter = Meter(load_template())
    with meter.observe(client.stack):
        client.create(**{"in": "10m"})
        client.advance("11m")
    with attribute_calls_to("worker"):
        before = meter._logs.bytes["worker"]
        print("1234", file=meter._logs)

    assert 300 < meter.usage["worker"].log_bytes < 1500
    assert ("worker", "TasksDelivered") in meter.metrics
    assert meter._logs.bytes["worker"] == before + 4 + EVENT_OVERHEAD


def test_a_log_that_another_test_closed_does_not_stop_the_meter(client: StackClient) -> None:
    """pytest closes the stream that it captured, and a function's logger may still have it."""
    handler: Any = worker.logger.registered_handler
    before, handler.stream = handler.stream, TextIOWrapper(BytesIO())
    handler.stream.close()
    meter = Meter(load_template())
    try:
        with meter.observe(client.stack):
            client.create(**{"in": "10m"})
            client.advance("11m")
    finally:
        handler.stream = before

    assert meter.usage["worker"].log_bytes > 300


def test_metrics_have_their_namespace_in_functions_imported_before_the_stack(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(worker.metrics.provider, "namespace", None)
    with moto_stack(shard_count=DEFAULT_SHARD_COUNT) as client:
        meter = Meter(load_template())
        with meter.observe(client.stack):
            client.create(**{"in": "10s"})
            client.advance("11s")

    meter.check_complete()


def test_figures_with_a_failed_invocation_are_refused(client: StackClient, meter: Meter) -> None:
    client.stack.invoke("worker", {"Records": []})
    meter.check_complete()
    with pytest.raises(InvocationError):
        client.stack.invoke("worker", {})

    with pytest.raises(FailedInvocationError, match="worker: "):
        meter.check_complete()


def test_lambdas_own_lines_cost_nothing_where_the_template_drops_them() -> None:
    quiet = {"LogFormat": "JSON", "SystemLogLevel": "WARN"}

    assert system_log_bytes({"LoggingConfig": quiet}) == 0
    assert system_log_bytes({"LoggingConfig": {"LogFormat": "JSON"}}) > 0
    assert system_log_bytes({}) > 200


def test_units_are_divided_by_the_kind_of_item(client: StackClient, meter: Meter) -> None:
    client.create(**{"in": "10s"})
    client.advance("1m")

    parts = meter.usage["api"].written
    assert (parts["task"], parts["DueIndex"]) == (1, 1)
    assert sum(parts.values()) == meter.usage["api"].write_units
    assert meter.usage["worker"].read["task"] >= 1 or meter.usage["worker"].written["task"] >= 2
    assert sum(meter.usage["worker"].read.values()) == meter.usage["worker"].read_units


def test_a_transaction_doubles_the_table_and_counts_an_index_once(client: StackClient) -> None:
    client.create(**{"in": "1h"})
    found = client.stack.scheduler.call(lambda: Meter(load_template())._known_items["TasksTable"])
    [item] = found.values()
    meter = Meter(load_template())
    meter._known_items["TasksTable"].clear()  # as if the transaction had created it
    put = {"Put": {"TableName": "TasksTable", "Item": item}}
    meter.on_call(_make_call("worker", "dynamodb", "TransactWriteItems", {"TransactItems": [put]}))

    written = meter.usage["worker"].written
    assert (written["task"], written["DueIndex"]) == (2, 1)
    assert meter.usage["worker"].write_units == sum(written.values())


@pytest.mark.parametrize(
    ("service", "operation", "body"),
    [
        ("dynamodb", "ExecuteStatement", {}),
        ("dynamodb", "Query", {"TableName": "TasksTable", "FilterExpression": "a = b"}),
        ("dynamodb", "GetItem", {"TableName": "TasksTable", "ProjectionExpression": "a"}),
        ("dynamodb", "Scan", {"TableName": "TasksTable"}),
        ("events", "PutRule", {}),
        ("kms", "Decrypt", {}),
    ],
)
def test_an_unknown_request_is_reported(
    client: StackClient, meter: Meter, service: str, operation: str, body: dict[str, str]
) -> None:
    del client
    meter.on_call(_make_call("worker", service, operation, body))

    with pytest.raises(NotUnderstoodError, match=operation):
        meter.check_complete()


def test_every_event_source_can_hand_over_single_records() -> None:
    assert set(_batch_sizes(Batches.OF_ONE)) == {1}
    assert max(_batch_sizes(Batches.AS_THEY_COME)) == 100


def _batch_sizes(batches: Batches) -> list[int]:
    mappings = resources_of_type(make_template(batches), "AWS::Lambda::EventSourceMapping")
    return [mapping["BatchSize"] for mapping in mappings.values()]


def test_a_bill_minus_another_is_what_it_has_more() -> None:
    more = _bill(worker=Usage(write_units=5, invocations=2), failure=Usage(read_units=1))
    less = _bill(worker=Usage(write_units=3, invocations=2), api=Usage(read_units=4))

    rest = more.minus(less)

    assert rest.components["worker"]["write_units"] == 2
    assert (rest.total["write_units"], rest.total["read_units"]) == (2, -3)
    assert rest.dollars == pytest.approx(more.dollars - less.dollars)


def _make_call(function: str, service: str, operation: str, body: dict[str, Any]) -> Call:
    return Call(function, service, operation, json.dumps(body).encode(), is_form=False, reply={})
