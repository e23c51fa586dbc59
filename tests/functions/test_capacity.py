"""The capacity model divides each limit by what the code uses, and the documentation agrees."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import asdict, fields, replace
from uuid import uuid4

import pytest
from duecourse.adapters.aws.dynamodb.tracking_models import BudgetItem

from bench.bill import MILLION
from bench.capacity import AIMS, PAGE, format_large_settings
from bench.capacity_limits import (
    SCAN_INTERVAL,
    SCAN_SECONDS,
    STREAM_SHARDS,
    TABLE_QUOTA,
    WRITES_PER_PARTITION,
    Settings,
    budget_calls_per_second,
    budget_item_bytes,
    deliver_while_scaling,
    find_limits,
    is_limited_by_key,
    make_large_settings,
    read_settings,
    worst_lateness,
)
from bench.capacity_loads import (
    Load,
    measure_action,
    measure_delivery,
    measure_failure,
    measure_message,
    measure_task,
)
from bench.dynamodb_units import item_size
from bench.partitions import Place
from local.runtime.template import load_template

SETTINGS = Settings(
    shard_count=4,
    requests_per_second=100,
    connections_per_second=50,
    concurrency={"failure": 5},
)
LOAD = Load(
    seconds={"api": 0.03, "journal": 0.01, "failure": 0.02, "scanner": 0.001},
    requests=1,
    bus_requests=0.5,
    written={
        Place("TasksTable", "", "task"): 2,
        Place("TasksTable", "DueIndex", "task"): 2,
        Place("TasksTable", "SenderIndex", "task"): 1,
        Place("JournalTable", "", "run record"): 1,
        Place("JournalTable", "", "audit entry"): 1,
        Place("StatsTable", "", "page of counters"): 0.5,
        Place("StateTable", "", "a kind that is new"): 2,
    },
    read={
        Place("TasksTable", "", "task"): 3,
        Place("StatsTable", "", "correction of a pattern"): 0.5,
    },
)
LOADS = {
    "tasks": measure_task,
    "actions": measure_action,
    "failures": measure_failure,
    "messages": measure_message,
}


def _rate(name: str, load: Load = LOAD, settings: Settings = SETTINGS) -> float:
    return next(one.per_second for one in find_limits(load, settings) if name in one.name)


@pytest.mark.parametrize(
    ("name", "per_second"),
    [
        ("HTTP API", 100),
        ("PutEvents", 20_000),
        ("the tasks table", 2_000),
        ("the journal table", 2_000),
        ("the state table", 2_000),
        ("reads of the tasks table", 4_000),
        ("partitions of DueIndex", 2_000),
        ("SenderIndex, one sender", 1_000),
        ("audit entries of a day", 1_000),
        ("counter pages of a day", 2_000),
        ("corrections of a policy", 6_000),
        ("concurrency of the failure function", 250),
        ("journal function", STREAM_SHARDS / 0.01),
        ("concurrency of the account", 1_000 / 0.061),
    ],
)
def test_a_limit_is_divided_by_what_one_task_uses(name: str, per_second: float) -> None:
    assert _rate(name) == pytest.approx(per_second)


def test_the_lowest_limit_comes_first() -> None:
    rates = [one.per_second for one in find_limits(LOAD, SETTINGS)]

    assert rates == sorted(rates)


def test_equal_limits_are_in_the_order_of_their_names() -> None:
    backwards = replace(LOAD, written=dict(reversed([*LOAD.written.items()])))

    assert find_limits(backwards, SETTINGS) == find_limits(LOAD, SETTINGS)


def test_a_limit_that_is_not_used_is_left_out() -> None:
    names = [one.name for one in find_limits(replace(LOAD, bus_requests=0), SETTINGS)]

    assert not any("EventBridge" in name for name in names)


def test_shards_of_indexes_and_streams_raise_their_limits() -> None:
    large = replace(SETTINGS, shard_count=8, stream_shards=10 * SETTINGS.stream_shards)

    assert _rate("partitions of DueIndex", settings=large) == 2 * _rate("partitions of DueIndex")
    assert _rate("journal function", settings=large) == 10 * _rate("journal function")


@pytest.mark.parametrize("measure", LOADS.values(), ids=LOADS)
def test_every_kind_that_is_written_or_read_belongs_to_a_limit(
    measure: Callable[[], Load],
) -> None:
    load = measure()

    assert load.written
    alone = replace(load, seconds={"api": 1.0}, written={}, read={})
    used = [replace(alone, written={one: 1.0}) for one, units in load.written.items() if units > 0]
    used += [replace(alone, read={one: 1.0}) for one, units in load.read.items() if units > 0]
    for one in used:
        names = [limit.name for limit in find_limits(one, SETTINGS)]
        assert any(name.startswith("DynamoDB") for name in names), (one.written, one.read)


@pytest.mark.parametrize("measure", LOADS.values(), ids=LOADS)
def test_every_partition_that_all_work_shares_has_a_limit(measure: Callable[[], Load]) -> None:
    load = measure()

    for place, share in load.largest_shares.items():
        assert share < 0.5 or is_limited_by_key(place), f"{place}: {share:.0%} in one partition"


def test_tasks_of_one_sender_share_a_partition_of_an_index() -> None:
    load = measure_action()

    assert load.largest_shares[Place("TasksTable", "SenderIndex", "task")] == 1
    assert load.largest_shares[Place("JournalTable", "", "audit entry")] == 1
    assert _rate("SenderIndex, one sender", load) == WRITES_PER_PARTITION


def test_a_failure_is_measured_with_a_subject() -> None:
    assert measure_failure().written[Place("SubjectsTable", "", "subject")] > 0


@pytest.mark.parametrize(("seconds", "per_second"), [(0, 500), (1, 100), (10, 34)])
def test_a_budget_takes_fewer_calls_the_longer_they_last(seconds: float, per_second: int) -> None:
    assert budget_calls_per_second(seconds) == pytest.approx(per_second, abs=1)


@pytest.mark.parametrize("reservations", [0, 50])
def test_the_modelled_item_of_a_budget_is_as_large_as_the_stored_one(reservations: int) -> None:
    stored = BudgetItem(
        "budget#daily#2026-02-17",
        limit=5_000_000,
        version=1,
        remaining=4_850_000,
        spent=120_000,
        calls=90,
        held={str(uuid4()): 3_000 for _ in range(reservations)},
        expires_at=1_771_372_800,
    )

    assert budget_item_bytes(reservations) == pytest.approx(item_size(stored.serialize()), rel=0.1)


def test_the_defaults_come_from_the_template() -> None:
    settings = read_settings(load_template())

    assert settings.shard_count == 4
    assert settings.concurrency["notifier"] == 15
    assert settings.requests_per_second == 1500


def test_the_page_states_the_limits_of_tasks() -> None:
    settings = read_settings(load_template())
    page = PAGE.read_text(encoding="utf-8").partition("| limit | tasks/s |")[2].partition("\n\n")[0]
    stated = {
        name: float(figure.replace(",", ""))
        for name, figure in re.findall(r"^\| ([^|]+) \| ([\d,]+) \|", page, re.MULTILINE)
    }
    measured = {one.name: one.per_second for one in find_limits(measure_task(60), settings)}

    # So few tasks fill fewer batches, which changes what a stream can take.
    others = [name for name in measured if not name.startswith("stream:")]
    first = sorted(others, key=lambda name: measured[name])[:5]
    assert len(first) == 5
    for name in first:
        assert stated[name] == pytest.approx(measured[name], rel=0.3), f"{name}: make capacity"


def test_a_million_in_a_minute_follow_from_the_large_settings() -> None:
    large = make_large_settings(read_settings(load_template()))

    limits = {one.name: one.per_second for one in find_limits(measure_delivery(), large)}

    scanner = limits.pop("Lambda: one scanner a minute")  # it begins two minutes before
    assert min(limits.values()) >= MILLION / 60, min(limits, key=limits.__getitem__)
    assert worst_lateness(MILLION * SCAN_SECONDS / SCAN_INTERVAL / scanner) <= 0


def test_the_delivery_leaves_out_what_creating_a_task_uses() -> None:
    delivery = measure_delivery(60)

    assert delivery.requests == 0
    assert "api" not in delivery.seconds
    assert Place("TasksTable", "SenderIndex", "task") not in delivery.written
    assert delivery.written[Place("TasksTable", "", "task")] > 0


def test_the_page_lists_every_setting_that_a_million_in_a_minute_needs() -> None:
    settings = read_settings(load_template())
    large = make_large_settings(settings)
    changed = {one.name for one in fields(Settings)} - {
        name for name in asdict(settings) if getattr(settings, name) == getattr(large, name)
    }

    listed = "\n".join(format_large_settings(large))

    assert changed == {
        "shard_count",
        "stream_shards",
        "writes_per_table",
        "reads_per_table",
        "scanner_memory_mb",
        "work_pollers",
    }
    for name in changed:
        assert f"{getattr(large, name):,}" in listed, name
    assert listed in PAGE.read_text(encoding="utf-8")
    assert large.writes_per_table > TABLE_QUOTA
    assert f"{TABLE_QUOTA:,}" in listed


def test_the_pollers_of_provisioned_mode_take_the_place_of_the_bound() -> None:
    provisioned = replace(SETTINGS, concurrency={"worker": 4}, work_pollers=30)
    load = replace(LOAD, seconds={"worker": 0.1})

    assert _rate("pollers of the work queue", load, provisioned) == 3_000
    assert _rate("concurrency of the worker", load, provisioned) == 3_000
    assert _rate("concurrency of the worker", replace(load, is_slow=True), provisioned) == 10_000


@pytest.mark.parametrize(
    ("seconds_per_task", "in_the_minute", "seconds_after"),
    [(0.001, 995_000, 0), (0.0139, 669_000, 15), (0.03, 310_000, 54)],
)
def test_without_provisioned_mode_lambda_adds_batches_by_and_by(
    seconds_per_task: float, in_the_minute: float, seconds_after: float
) -> None:
    delivered, after = deliver_while_scaling(seconds_per_task, 400)

    assert delivered == pytest.approx(in_the_minute, rel=0.02)
    assert after == pytest.approx(seconds_after, abs=2)


@pytest.mark.parametrize(
    ("unit", "measure"), [("tasks", measure_task), ("failures", measure_failure)]
)
def test_the_defaults_reach_the_aims(unit: str, measure: Callable[[], Load]) -> None:
    first = find_limits(measure(), read_settings(load_template()))[0]

    assert first.per_second >= AIMS[unit], first.name


@pytest.mark.parametrize(
    ("sending_seconds", "late"),
    [(60, -55), (90, -30), (120, 10), (180, 75)],
)
def test_the_scanner_is_late_if_sending_takes_too_long(sending_seconds: float, late: float) -> None:
    assert worst_lateness(sending_seconds) == pytest.approx(late)
