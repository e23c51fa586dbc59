"""The counters in pages: each change counts once, a batch costs one write, reading is bounded."""

from __future__ import annotations

import base64
import hashlib
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import cycle
from typing import Any

import boto3
import pytest
from duecourse.adapters.aws.dynamodb import counters as adapter
from duecourse.adapters.aws.dynamodb.counters import (
    FULL_PAGE_BYTES,
    MAX_ATTEMPTS,
    MAX_FIRST_ROLLUPS,
    DynamoCounters,
)
from duecourse.adapters.aws.dynamodb.tracking_models import CounterItem
from duecourse.domain.errors import StalePageError
from duecourse.domain.journal.counted_runs import counted_run_increment, counted_run_name
from duecourse.domain.journal.counter_page import CountedChange
from duecourse.domain.journal.counters import count_change
from duecourse.domain.journal.increment import Increment, merge_increments
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pynamodb.exceptions import PutError, QueryError

from bench.dynamodb_units import WRITE_UNIT, item_size
from local.runtime.call_interceptor import Call, CallInterceptor, attribute_calls_to
from local.runtime.template import Resolver
from local.testing.faults import Fault, Faults, SimulatedCrash
from tests.support.builders.moments import DAY, HOUR, MINUTE, NOW
from tests.support.builders.runs import DIAGNOSIS, a_failed_run
from tests.support.builders.tasks import an_action

TODAY, SHARD = "2026-02-17", "shardId-00000001771329600000-a1b2c3d4"
PUT, QUERY = ("journal", "dynamodb.PutItem"), ("journal", "dynamodb.Query")
INVALID = {"code": "ValidationException", "status": 400}


@pytest.fixture
def counters() -> DynamoCounters:
    return DynamoCounters()


def a_change(
    number: int, *, at: datetime = NOW, name: str = "c", n: int = 1, day: str = TODAY
) -> CountedChange:
    late = {"max": number}
    increment = Increment(day, name, {"n": n}, late, {"first_seen": str(n)}, {"last_seen": str(n)})
    return CountedChange(number, at, [increment])


def changes(*numbers: int, **fields: Any) -> list[CountedChange]:
    return [a_change(number, **fields) for number in numbers]


def read(counters: DynamoCounters, day: str = TODAY, *, now: datetime = NOW) -> list[Increment]:
    return list(counters.read_since(day, now=now))


def count_all(*, now: datetime = NOW) -> int:
    return sum(one.sums["n"] for one in DynamoCounters().read_since(TODAY, now=now))


def items() -> list[dict[str, Any]]:
    found = boto3.client("dynamodb").scan(TableName="StatsTable")["Items"]
    return sorted(found, key=lambda item: (item["day"]["S"], item["counter"]["S"]))


def encode_binary(item: dict[str, Any]) -> dict[str, Any]:
    """Return the item as it goes over the wire; boto3 has decoded its binary values."""
    return {
        name: {"B": base64.b64encode(value["B"])} if "B" in value else value
        for name, value in item.items()
    }


def pages() -> list[tuple[str, str]]:
    return [(item["day"]["S"], item["counter"]["S"]) for item in items()]


def put_item(**attributes: Any) -> None:
    boto3.client("dynamodb").put_item(TableName="StatsTable", Item=attributes)


# Counting


def test_the_changes_of_a_batch_are_summed_up(counters: DynamoCounters) -> None:
    counters.add(SHARD, [a_change(5, n=1), a_change(6, n=2)])
    expected = Increment(TODAY, "c", {"n": 3}, {"max": 6}, {"first_seen": "1"}, {"last_seen": "2"})
    assert read(counters) == [expected]
    counters.add(SHARD, [a_change(7, n=4, name="d")])
    assert [one.counter for one in read(counters)] == ["c", "d"]


def test_each_hour_and_shard_has_pages_of_its_own(counters: DynamoCounters) -> None:
    counters.add("a", [a_change(1, at=NOW - MINUTE), a_change(2)])
    counters.add("b", [a_change(1)])
    assert pages() == [
        (TODAY, "page#11#a#000001"),
        (TODAY, "page#12#a#000001"),
        (TODAY, "page#12#b#000001"),
    ]
    assert count_all() == 3


def test_a_page_is_stored_under_the_day_of_its_changes(counters: DynamoCounters) -> None:
    """Not under the day that is counted: a run can end before midnight and be written after."""
    counters.add(SHARD, [a_change(1, at=NOW - DAY, day=TODAY)])
    assert pages() == [("2026-02-16", f"page#12#{SHARD}#000001")]
    assert [one.day for one in read(counters, TODAY)] == [TODAY]


def test_a_batch_without_counts_writes_nothing(
    counters: DynamoCounters, calls: CallInterceptor
) -> None:
    with attribute_calls_to("journal"):
        counters.add(SHARD, [])
        counters.add(SHARD, [CountedChange(1, NOW, [])])
    assert not calls.counts


def test_pages_expire_after_the_longest_window(counters: DynamoCounters) -> None:
    counters.add(SHARD, changes(1))
    [item] = CounterItem.scan()
    assert item.expires_at == (NOW + 35 * DAY).timestamp()


# Cost


def failure_changes(count: int) -> list[CountedChange]:
    """Return real failures: of four providers and five categories, each with its own pattern."""
    found = []
    for n in range(count):
        digits = hashlib.sha256(str(n).encode()).hexdigest()
        diagnosis = replace(DIAGNOSIS, fingerprint=digits[:16])
        run = a_failed_run(id=digits[:36], category=f"category-{n % 5}", diagnosis=diagnosis)
        task = an_action(id=digits[-36:], payload={"provider": f"p{n % 4}"}, run=run)
        found.append(CountedChange(n, NOW, count_change(None, task, late_after=MINUTE)))
    return found


def test_a_batch_costs_one_write_and_no_read_after_the_first(
    counters: DynamoCounters, calls: CallInterceptor
) -> None:
    stream = failure_changes(90)
    with attribute_calls_to("journal"):
        for start in (0, 30, 60):
            counters.add(SHARD, stream[start : start + 30])
    assert calls.counts == {QUERY: 1, PUT: 3}


def test_a_page_costs_one_write_unit_until_it_is_full(counters: DynamoCounters) -> None:
    """A write is billed by the size of the page, so a batch of one change costs one unit."""
    for change in failure_changes(40):
        counters.add(SHARD, [change])
    sizes = [item_size(encode_binary(item)) for item in items()]
    assert len(sizes) > 2
    assert max(sizes) <= WRITE_UNIT
    seen = [one.sums["seen"] for one in read(counters) if one.counter.startswith("learned#")]
    assert seen == [1] * 40


# Each change counts once


@pytest.fixture(params=["same container", "another container"])
def next_counters(request: pytest.FixtureRequest, counters: DynamoCounters) -> DynamoCounters:
    return counters if request.param == "same container" else DynamoCounters()


def test_a_repeated_batch_counts_once(
    counters: DynamoCounters, next_counters: DynamoCounters
) -> None:
    counters.add(SHARD, changes(1, 2, 3))
    for batch in ([1, 2, 3], [2], [1, 2, 3, 4], [3, 4, 5]):
        next_counters.add(SHARD, changes(*batch))
    assert count_all() == 5


def test_a_repetition_writes_nothing(counters: DynamoCounters, calls: CallInterceptor) -> None:
    counters.add(SHARD, changes(1, 2))
    with attribute_calls_to("journal"):
        counters.add(SHARD, changes(2))
        DynamoCounters().add(SHARD, changes(1, 2))
    assert PUT not in calls.counts


def test_a_repetition_in_the_next_hour_finds_the_page_that_counted_it(
    counters: DynamoCounters, next_counters: DynamoCounters
) -> None:
    """The hour is that of the write, however late the change is counted."""
    first, second = a_change(1, at=NOW + 59 * MINUTE), a_change(2, at=NOW + HOUR)
    counters.add(SHARD, [first])
    next_counters.add(SHARD, [first, second])
    next_counters.add(SHARD, [first, second])
    assert count_all(now=NOW + HOUR) == 2


def test_a_full_page_is_followed_by_another(
    counters: DynamoCounters, next_counters: DynamoCounters
) -> None:
    names = [f"provider#{n * 7919 % 100_003:x}" for n in range(120)]
    batch = [a_change(n, name=name) for n, name in enumerate(names)]
    counters.add(SHARD, batch)
    [full] = items()
    assert full["is_full"] == {"BOOL": True}
    assert len(full["counted"]["B"]) >= FULL_PAGE_BYTES
    next_counters.add(SHARD, [*batch, a_change(200)])
    assert pages() == [(TODAY, f"page#12#{SHARD}#00000{n}") for n in (1, 2)]
    assert full in items()
    assert count_all() == 121
    next_counters.add(SHARD, [*batch, a_change(200)])
    assert count_all() == 121


def test_sequence_numbers_are_compared_as_numbers(counters: DynamoCounters) -> None:
    counters.add(SHARD, changes(99_999_999_999_999_999_999))
    DynamoCounters().add(SHARD, changes(100_000_000_000_000_000_000))
    assert count_all() == 2


# Other containers


def test_a_container_with_an_old_page_counts_after_the_other(counters: DynamoCounters) -> None:
    """A shard is processed by one invocation at a time, but not always by the same container."""
    other = DynamoCounters()
    for number in range(1, 7):
        (counters if number % 2 else other).add(SHARD, changes(number))
    assert count_all() == 6


def write_between(
    calls: CallInterceptor, write: Callable[[], None], *, times: int = 1
) -> list[Call]:
    """Call `write` after each of the next queries, as if another container were faster."""
    seen: list[Call] = []

    def on_call(call: Call) -> None:
        if call.operation == "Query" and len(seen) < times:
            seen.append(call)
            calls.on_aws_call = None
            write()
            calls.on_aws_call = on_call

    calls.on_aws_call = on_call
    return seen


def test_a_page_stored_by_another_meanwhile_is_read_again(
    counters: DynamoCounters, calls: CallInterceptor
) -> None:
    write_between(calls, lambda: DynamoCounters().add(SHARD, changes(1)))
    with attribute_calls_to("journal"):
        counters.add(SHARD, changes(1, 2))
    assert count_all() == 2


def test_constant_conflicts_raise_and_are_counted_later(
    counters: DynamoCounters, calls: CallInterceptor
) -> None:
    numbers = iter(range(1, 100))
    write_between(
        calls, lambda: DynamoCounters().add(SHARD, changes(next(numbers))), times=MAX_ATTEMPTS
    )
    with pytest.raises(StalePageError, match=SHARD):
        counters.add(SHARD, changes(50))
    assert count_all() == MAX_ATTEMPTS
    counters.add(SHARD, changes(50))
    assert count_all() == MAX_ATTEMPTS + 1


# Failures of the table


@pytest.mark.parametrize("call", ["dynamodb.Query", "dynamodb.PutItem"])
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("kind", ["crash", "timeout", "error"])
@pytest.mark.usefixtures("calls")
def test_each_change_counts_once_whichever_call_fails(
    counters: DynamoCounters, faults: Faults, call: str, when: str, kind: str
) -> None:
    error = INVALID if kind == "error" else {}
    faults.add(Fault(call, when=when, kind=kind, error=error))
    with attribute_calls_to("journal"):
        with suppress(SimulatedCrash, PutError, QueryError):
            counters.add(SHARD, changes(1, 2))
        assert not faults.has_pending_for("journal"), "the fault occurred"
        counters.add(SHARD, changes(1, 2))
        counters.add(SHARD, changes(3))
    assert count_all() == 3


@pytest.mark.usefixtures("calls")
def test_a_failed_write_raises(counters: DynamoCounters, faults: Faults) -> None:
    faults.add(Fault("dynamodb.PutItem", kind="error", error=INVALID))
    with attribute_calls_to("journal"), pytest.raises(PutError):
        counters.add(SHARD, changes(1))
    assert items() == []


@pytest.mark.usefixtures("calls")
def test_a_batch_that_fails_in_its_second_hour_is_completed_later(
    counters: DynamoCounters, faults: Faults
) -> None:
    batch = [a_change(1), a_change(2, at=NOW + HOUR)]
    faults.add(Fault("dynamodb.PutItem", nth=2, kind="error", error=INVALID))
    with attribute_calls_to("journal"), pytest.raises(PutError):
        counters.add(SHARD, batch)
    assert count_all(now=NOW + HOUR) == 1
    counters.add(SHARD, batch)
    assert count_all(now=NOW + HOUR) == 2


@pytest.mark.parametrize(
    "damage",
    [{"counted": {"B": b"no zlib"}}, {"last_sequence_number": {"S": "x"}}, {"schema": 1}],
    ids=["content", "sequence number", "newer code"],
)
def test_an_unreadable_page_is_followed_by_another(
    counters: DynamoCounters, damage: dict[str, Any]
) -> None:
    """Its counts are missing until code that can read it runs again; counting goes on."""
    counters.add(SHARD, changes(1))
    [page] = items()
    damage = {"schema_version": {"N": "2"}} if "schema" in damage else damage
    put_item(**{**page, **damage})
    next_counters = DynamoCounters()
    next_counters.add(SHARD, changes(2))
    next_counters.add(SHARD, changes(3))
    assert len(pages()) == 2
    unreadable, following = items()
    assert unreadable == {**page, **damage}
    assert following["last_sequence_number"] == {"S": "3"}


# The fence, for any delivery


def clear_table() -> None:
    with CounterItem.batch_write() as batch:
        for item in CounterItem.scan():
            batch.delete(item)


@st.composite
def deliveries(draw: st.DrawFn) -> list[tuple[int, int]]:
    """Draw batches of ten changes; each begins before what is delivered, or with the next."""
    found, delivered = list[tuple[int, int]](), 0
    for start, size in draw(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 10)), max_size=8)):
        first = min(start, delivered)
        found.append((first, min(first + size, 10)))
        delivered = max(delivered, found[-1][1])
    return [*found, (delivered, 10)]


def add_until_done(
    containers: Iterator[DynamoCounters], batch: Sequence[CountedChange], attempts: int = 20
) -> None:
    for _ in range(attempts):
        with suppress(SimulatedCrash, PutError, QueryError):
            next(containers).add(SHARD, batch)
            return
    raise AssertionError("the faults never end")


@pytest.mark.fault_may_miss
@settings(
    deadline=None, max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    batches=deliveries(),
    turns=st.lists(st.booleans(), min_size=1, max_size=20),
    planted=st.lists(
        st.builds(
            Fault,
            st.just("dynamodb.PutItem"),
            nth=st.integers(1, 15),
            when=st.sampled_from(["before", "after"]),
            kind=st.sampled_from(["crash", "error"]),
            error=st.just(INVALID),
        ),
        max_size=6,
    ),
)
def test_each_change_counts_once_however_it_is_delivered(
    aws: Resolver,
    batches: list[tuple[int, int]],
    turns: list[bool],
    planted: list[Fault],
) -> None:
    """Two containers take turns; writes fail, or their answers are lost, at random."""
    assert aws
    clear_table()
    faults = Faults()
    for fault in planted:
        faults.add(fault)
    stream = [a_change(n, at=NOW + n * 13 * MINUTE, name=f"c{n % 3}") for n in range(10)]
    pair = [DynamoCounters(), DynamoCounters()]
    containers = (pair[turn] for turn in cycle(turns))
    with CallInterceptor(faults).install(), attribute_calls_to("journal"):
        for start, end in batches:
            add_until_done(containers, stream[start:end])
    counted = DynamoCounters().read_since(TODAY, now=NOW + 2 * HOUR)
    expected = merge_increments(one for change in stream for one in change.increments)
    assert sorted(counted, key=str) == sorted(expected, key=str)
    clear_table()


# Reading


def test_reading_covers_the_requested_days_and_the_one_before(counters: DynamoCounters) -> None:
    for age in range(4):
        counters.add(SHARD, [a_change(9 - age, at=NOW - age * DAY, name=f"c{age}")])
    assert sorted(one.counter for one in read(counters, "2026-02-16")) == ["c0", "c1", "c2"]


def test_a_run_that_ended_after_its_write_by_the_clock_is_read(counters: DynamoCounters) -> None:
    """The worker's clock is ahead: at its end it was already the next day."""
    counters.add(SHARD, [a_change(1, at=NOW - DAY, day=TODAY)])
    assert [one.day for one in read(counters, TODAY)] == [TODAY]


@pytest.mark.parametrize("page_count", [1, 30])
def test_reading_costs_one_query_for_each_day(
    counters: DynamoCounters, calls: CallInterceptor, page_count: int
) -> None:
    for n in range(page_count):
        counters.add(f"shard-{n}", changes(1))
    with attribute_calls_to("journal"):
        read(counters, "2026-02-11")
    assert calls.counts == {QUERY: 1 + 8}  # the rollups, seven days and the day before


def test_an_unreadable_page_is_left_out_of_the_sums(counters: DynamoCounters) -> None:
    counters.add("a", changes(1))
    put_item(day={"S": TODAY}, counter={"S": "page#12#b#000001"}, counted={"B": b"no zlib"})
    assert [one.sums for one in read(counters)] == [{"n": 1}]


# Counters of version 0.1


def put_legacy_counter(name: str, **values: Any) -> None:
    numbers = {key: {"N": str(n)} for key, n in values.items() if isinstance(n, int)}
    texts = {key: {"S": text} for key, text in values.items() if isinstance(text, str)}
    put_item(day={"S": TODAY}, counter={"S": name}, expires_at={"N": "1"}, **numbers, **texts)


def test_counters_of_version_0_1_are_added(counters: DynamoCounters) -> None:
    put_legacy_counter("c", n=7, max=900, first_seen="0", last_seen="0")
    put_legacy_counter("lateness", runs=2)
    counters.add(SHARD, [a_change(1, n=2)])
    assert sorted(read(counters), key=lambda one: one.counter) == [
        Increment(TODAY, "c", {"n": 9}, {"max": 900}, {"first_seen": "0"}, {"last_seen": "2"}),
        Increment(TODAY, "lateness", {"runs": 2}),
    ]


# Rollups


def write_days(counters: DynamoCounters, *ages: int) -> None:
    for age in ages:
        counters.add(SHARD, [a_change(100 - age, at=NOW - age * DAY, name=f"c{age}")])


def rollup_days() -> list[str]:
    return [key for partition, key in pages() if partition == "rollup"]


def test_days_that_are_over_for_good_are_summed_up(counters: DynamoCounters) -> None:
    """Lambda delivers a change for up to 24 hours: yesterday's pages may still change."""
    write_days(counters, 0, 1, 2, 3)
    before = sorted(read(counters, "2026-02-10"), key=str)
    assert counters.compact(now=NOW) == 1 + MAX_FIRST_ROLLUPS
    assert rollup_days() == [f"2026-02-{day}#last" for day in (11, 12, 13, 14, 15)]
    assert sorted(read(DynamoCounters(), "2026-02-10"), key=str) == before


@pytest.mark.parametrize(
    ("now", "last"),
    [
        (datetime.fromisoformat("2026-02-17T00:59:59Z"), "2026-02-14#last"),
        (datetime.fromisoformat("2026-02-17T01:00:00Z"), "2026-02-15#last"),
        (datetime.fromisoformat("2026-02-18T00:59:59Z"), "2026-02-15#last"),
    ],
)
def test_a_day_is_summed_up_25_hours_after_its_end(
    counters: DynamoCounters, now: datetime, last: str
) -> None:
    counters.compact(now=now)
    assert rollup_days()[-1] == last


def test_a_day_that_is_summed_up_costs_no_query(
    counters: DynamoCounters, calls: CallInterceptor
) -> None:
    write_days(counters, *range(8))
    counters.compact(now=NOW)
    with attribute_calls_to("journal"):
        read(DynamoCounters(), "2026-02-12")
    assert calls.counts == {QUERY: 1 + 2}  # the rollups, today and yesterday


def test_days_are_summed_up_once(counters: DynamoCounters, calls: CallInterceptor) -> None:
    write_days(counters, 2, 3)
    counters.compact(now=NOW)
    with attribute_calls_to("journal"):
        assert counters.compact(now=NOW) == 0
        assert not calls.counts
        assert DynamoCounters().compact(now=NOW) == 0
    assert calls.counts == {QUERY: 1}


def test_each_day_since_the_last_time_is_summed_up(counters: DynamoCounters) -> None:
    write_days(counters, *range(5))
    counters.compact(now=NOW - 3 * DAY)
    for now, days in ((NOW - 2 * DAY, 1), (NOW, 2)):
        assert DynamoCounters().compact(now=now) == days
    assert rollup_days()[-3:] == [f"2026-02-{day}#last" for day in (13, 14, 15)]


def test_a_rollup_includes_counters_of_version_0_1(counters: DynamoCounters) -> None:
    put_legacy_counter("c", n=7, max=900)
    later = NOW + 3 * DAY
    expected = counters.read_since(TODAY, now=later)
    counters.compact(now=later)
    CounterItem(TODAY, "c").delete()  # it expires before the rollup
    assert DynamoCounters().read_since(TODAY, now=later) == expected != []


def test_a_rollup_expires_after_the_patterns_do(counters: DynamoCounters) -> None:
    write_days(counters, 2)
    counters.compact(now=NOW)
    item = CounterItem.get("rollup", "2026-02-15#last")
    midnight = datetime.fromisoformat("2026-02-15T00:00:00Z")
    assert item.expires_at == (midnight + timedelta(days=95)).timestamp()


def test_a_day_with_many_counters_is_summed_up_in_several_items(
    counters: DynamoCounters, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(adapter, "_INCREMENTS_PER_ITEM", 10)
    batch = [a_change(n, at=NOW - 2 * DAY, name=f"c{n}") for n in range(25)]
    counters.add(SHARD, batch)
    before = sorted(read(counters, "2026-02-15"), key=str)
    counters.compact(now=NOW)
    assert rollup_days()[-3:] == ["2026-02-15#0000", "2026-02-15#0001", "2026-02-15#last"]
    assert sorted(read(DynamoCounters(), "2026-02-15"), key=str) == before


@pytest.mark.parametrize("nth", range(1, 9))
@pytest.mark.usefixtures("calls")
def test_a_rollup_that_was_interrupted_is_not_missing_anything(
    counters: DynamoCounters, faults: Faults, monkeypatch: pytest.MonkeyPatch, nth: int
) -> None:
    monkeypatch.setattr(adapter, "_INCREMENTS_PER_ITEM", 10)
    for age in (2, 3):
        batch = [a_change(n, at=NOW - age * DAY, name=f"c{n}") for n in range(25)]
        counters.add(SHARD, batch)
    before = sorted(read(counters, "2026-02-13"), key=str)
    faults.add(Fault("dynamodb.PutItem", nth=nth, kind="crash"))
    with attribute_calls_to("sweeper"), pytest.raises(SimulatedCrash):
        counters.compact(now=NOW)
    assert sorted(read(DynamoCounters(), "2026-02-13"), key=str) == before
    DynamoCounters().compact(now=NOW)
    assert sorted(read(DynamoCounters(), "2026-02-13"), key=str) == before


def test_a_counted_page_is_compressed(counters: DynamoCounters) -> None:
    counters.add(SHARD, changes(1))
    [item] = CounterItem.scan()
    assert zlib.decompress(item.counted).startswith(b'{"2026-02-17":{"c":[{"n":1}')


def test_runs_that_were_counted_by_name_are_listed_by_the_day_of_counting(
    counters: DynamoCounters,
) -> None:
    runs = [replace(a_failed_run(), id=f"run-{n}") for n in range(40)]
    named = [
        CountedChange(n, NOW, [counted_run_increment(run, counted_at=NOW)])
        for n, run in enumerate(runs)
    ]
    counters.add(SHARD, named[:20])
    counters.add("redriven", named[10:])
    assert counters.list_counted_runs(TODAY) == {counted_run_name(run) for run in runs}
    assert counters.list_counted_runs("2026-02-18") == frozenset()
    assert counters.list_failed_runs(TODAY) == []


def test_a_day_that_older_code_counted_has_no_complete_names(counters: DynamoCounters) -> None:
    CounterItem(TODAY, "lateness").save()
    assert counters.list_counted_runs(TODAY) is None
