"""The limits of AWS for each kind of work, from the units, calls and seconds that the code uses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

from duecourse.domain.dispatch.timing import LOOKAHEAD

from bench import prices
from bench.bill import MILLION
from bench.capacity_loads import Load
from bench.dynamodb_units import write_units
from bench.partitions import Place
from bench.prices import Pricing
from local.runtime.template import Resolver, function_id, resources_of_type
from local.testing.faults import short_name

# Default quotas of AWS; docs/capacity.md has the sources.
WRITES_PER_PARTITION = 1_000
READS_PER_PARTITION = 3_000
WRITES_PER_NEW_TABLE = 4_000
READS_PER_NEW_TABLE = 12_000
TABLE_QUOTA = 40_000
LAMBDA_CONCURRENCY = 1_000
PUT_EVENTS_PER_SECOND = 10_000
# A new on-demand table has a partition, and its stream a shard, for each 1,000 write units.
STREAM_SHARDS = WRITES_PER_NEW_TABLE // WRITES_PER_PARTITION
# How Lambda reads a queue: the batches at first, and how many it adds in a minute.
FIRST_BATCHES, MORE_BATCHES = 5, 300
# Of a poller in provisioned mode, which reads ten messages with a request.
INVOCATIONS_PER_POLLER = 10
MESSAGES_PER_POLLER = 10 * 10
SLOW_WORK_QUEUE = "SlowWorkQueue"
SCAN_SECONDS = 45.0  # of the scanner's 55, it keeps 10 for its end
SCAN_INTERVAL = 60.0
_SHARDED_INDEXES = ("DueIndex", "CreatedIndex")
_NOTHING = 0.001
# The item of a budget and day is written twice for a call: when its cost is reserved and when it
# is settled. It holds the open reservations, each with the id of its run.
_BUDGET_WRITES = 2
_BUDGET_BYTES = 110
_RESERVATION_BYTES = 40
_SENDERS = "more than one `sender_id`"
# By index or kind of item: what shares one partition key, and what raises its limit. That of an
# index is its own: `open_sender`, the day, or a constant.
_WRITTEN_TO_ONE_KEY = {
    "SenderIndex": ("SenderIndex, one sender", _SENDERS),
    "GaveUpIndex": ("GaveUpIndex", "no setting"),
    "RepeatIndex": ("RepeatIndex", "no setting"),
    "audit entry": ("audit entries of a day", "no setting"),
    "page of counters": ("counter pages of a day", "`BatchSize` of the journal function"),
}
_READ_FROM_ONE_KEY = {
    "profile": ("settings of one sender", _SENDERS),
    "correction of a pattern": ("corrections of a policy", "no setting"),
}


@dataclass(frozen=True)
class Settings:
    """What template.yaml and the account allow.

    `concurrency` is that of the functions that read a queue; of the worker, for reminders.
    `work_pollers` are those of the queue of reminders in provisioned mode, or 0.
    """

    shard_count: int
    requests_per_second: float
    connections_per_second: float
    concurrency: Mapping[str, int]
    stream_shards: int = STREAM_SHARDS
    writes_per_table: int = WRITES_PER_NEW_TABLE
    reads_per_table: int = READS_PER_NEW_TABLE
    lambda_concurrency: int = LAMBDA_CONCURRENCY
    scanner_memory_mb: int = 512
    slow_work_concurrency: int = LAMBDA_CONCURRENCY
    work_pollers: int = 0


@dataclass(frozen=True)
class Limit:
    name: str
    per_second: float
    remedy: str


def read_settings(template: dict[str, Any]) -> Settings:
    """Return the settings of a new stack with all defaults."""
    concurrency = read_concurrency(template)
    stages = resources_of_type(template, "AWS::ApiGatewayV2::Stage")
    live_routes = stages["LiveStage"]["DefaultRouteSettings"]
    return Settings(
        shard_count=int(template["Parameters"]["ShardCount"]["Default"]),
        requests_per_second=template["Parameters"]["RequestsPerSecond"]["Default"],
        connections_per_second=live_routes["ThrottlingRateLimit"],
        concurrency={
            function: limit
            for (function, queue), limit in concurrency.items()
            if queue != SLOW_WORK_QUEUE and "DeadLetter" not in queue
        },
        scanner_memory_mb=Pricing(template).memory_mb("scanner"),
        slow_work_concurrency=concurrency["worker", SLOW_WORK_QUEUE],
    )


def read_concurrency(template: dict[str, Any]) -> dict[tuple[str, str], int]:
    """Return `MaximumConcurrency` of each function and queue that it reads."""
    resolver = Resolver(template)
    mappings = resources_of_type(template, "AWS::Lambda::EventSourceMapping").values()
    return {
        (short_name(function_id(one["FunctionName"])), one["EventSourceArn"]["Fn::GetAtt"][0]): int(
            resolver.resolve(one["ScalingConfig"]["MaximumConcurrency"])
        )
        for one in mappings
        if "ScalingConfig" in one
    }


def retries_per_minute(template: dict[str, Any]) -> int:
    return int(template["Parameters"]["RetriesPerMinute"]["Default"])


def run_seconds_at_full_retries(template: dict[str, Any]) -> float:
    """Return how long runs may take if slow work is retried at the rate of the throttle."""
    return read_concurrency(template)["worker", SLOW_WORK_QUEUE] * 60 / retries_per_minute(template)


def find_limits(load: Load, settings: Settings) -> list[Limit]:
    """Return the limits of this kind of work, the first one first."""
    found = [*_api_limits(load, settings), *_table_limits(load, settings)]
    found += [*_index_limits(load, settings), *_key_limits(load)]
    found += [*_function_limits(load, settings), *_stream_limits(load, settings)]
    return sorted(found, key=lambda limit: (round(limit.per_second, 3), limit.name))


def _api_limits(load: Load, settings: Settings) -> Iterator[Limit]:
    if load.requests > 0:
        rate = settings.requests_per_second / load.requests
        yield Limit("HTTP API: throttling of the stage", rate, "`RequestsPerSecond`")
    if load.bus_requests > 0:
        rate = PUT_EVENTS_PER_SECOND / load.bus_requests
        yield Limit("EventBridge: PutEvents", rate, "the quota")


def _table_limits(load: Load, settings: Settings) -> Iterator[Limit]:
    """Yield a limit for each table, which follows from the place of what was counted."""
    remedy = "warm throughput, then the quota"
    for table, units in _sum_by(load.written, lambda place: "" if place.index else place.table):
        rate = settings.writes_per_table / units
        yield Limit(f"DynamoDB: the {_table_name(table)} table", rate, remedy)
    for table, units in _sum_by(load.read, lambda place: place.table):
        rate = settings.reads_per_table / units
        yield Limit(f"DynamoDB: reads of the {_table_name(table)} table", rate, remedy)


def _index_limits(load: Load, settings: Settings) -> Iterator[Limit]:
    for index, units in _sum_by(load.written, lambda place: place.index):
        if index in _SHARDED_INDEXES:
            rate = settings.shard_count * WRITES_PER_PARTITION / units
            yield Limit(f"DynamoDB: the partitions of {index}", rate, "`ShardCount`")


def _key_limits(load: Load) -> Iterator[Limit]:
    """Yield the limits of single partitions, as if all the work used the same one."""
    for label, units in _sum_by(load.written, lambda place: place.label):
        if label in _WRITTEN_TO_ONE_KEY:
            name, remedy = _WRITTEN_TO_ONE_KEY[label]
            yield Limit(f"DynamoDB: {name}", WRITES_PER_PARTITION / units, remedy)
    for label, units in _sum_by(load.read, lambda place: place.label):
        if label in _READ_FROM_ONE_KEY:
            name, remedy = _READ_FROM_ONE_KEY[label]
            yield Limit(f"DynamoDB: reads of {name}", READS_PER_PARTITION / units, remedy)


def budget_calls_per_second(seconds_per_call: float) -> int:
    """Return how many calls can pay from one budget. The item grows with the calls in progress."""
    rate = 0
    while True:
        size = budget_item_bytes(ceil((rate + 1) * seconds_per_call))
        if (rate + 1) * _BUDGET_WRITES * write_units(size) > WRITES_PER_PARTITION:
            return rate
        rate += 1


def budget_item_bytes(reservations: int) -> int:
    return _BUDGET_BYTES + reservations * _RESERVATION_BYTES


def is_limited_by_key(place: Place) -> bool:
    """Return whether the limits count what one partition key of the place can take."""
    return place.index in _SHARDED_INDEXES or place.label in _WRITTEN_TO_ONE_KEY


def _sum_by(
    units: Mapping[Place, float], group: Callable[[Place], str]
) -> Iterator[tuple[str, float]]:
    """Yield the sums of the groups that use anything. An empty name is no group."""
    sums: dict[str, float] = {}
    for place, used in units.items():
        sums[group(place)] = sums.get(group(place), 0) + used
    # What remains of the difference of two measurements is not exactly 0.
    yield from ((name, used) for name, used in sums.items() if name and used > _NOTHING)


def _table_name(logical_id: str) -> str:
    return logical_id.removesuffix("Table").lower()


def _function_limits(load: Load, settings: Settings) -> Iterator[Limit]:
    busy = sum(seconds for seconds in load.seconds.values() if seconds > 0)
    yield Limit(
        "Lambda: concurrency of the account", settings.lambda_concurrency / busy, "the quota"
    )
    limits = dict(settings.concurrency)
    is_provisioned = settings.work_pollers > 0 and not load.is_slow
    if load.is_slow:
        limits["worker"] = settings.slow_work_concurrency
    elif is_provisioned:
        limits["worker"] = settings.work_pollers * INVOCATIONS_PER_POLLER
        rate = float(settings.work_pollers * MESSAGES_PER_POLLER)
        yield Limit("Lambda: pollers of the work queue", rate, "`MinimumPollers`")
    for function, concurrency in limits.items():
        if (seconds := load.seconds.get(function, 0)) > 0:
            remedy = f"`MaximumConcurrency` of the {function} function"
            if function == "worker":
                remedy = f"`{'SlowWorkConcurrency' if load.is_slow else 'WorkConcurrency'}`"
                remedy = "`MinimumPollers`" if is_provisioned else remedy
            name = f"Lambda: concurrency of the {function} function"
            yield Limit(name, concurrency / seconds, remedy)
    if (seconds := load.seconds.get("scanner", 0)) > 0:
        rate = SCAN_SECONDS / SCAN_INTERVAL / seconds_per_dispatch(settings)
        yield Limit("Lambda: one scanner a minute", rate, "the memory of the scanner")


def seconds_per_dispatch(settings: Settings) -> float:
    """Return the scanner's time for a task in a long scan. Its threads share one vCPU."""
    share = min(1.0, settings.scanner_memory_mb / prices.MB_PER_VCPU)
    return prices.CPU_MS_PER_DISPATCH / share / 1000


def _stream_limits(load: Load, settings: Settings) -> Iterator[Limit]:
    for function in ("journal", "live"):
        if (seconds := load.seconds.get(function, 0)) > 0:
            name = f"stream: {function} function, {settings.stream_shards} shards"
            yield Limit(name, settings.stream_shards / seconds, "warm throughput: more shards")


def make_large_settings(settings: Settings) -> Settings:
    """Return the settings for a million tasks due in one minute."""
    return replace(
        settings,
        shard_count=64,
        stream_shards=60,
        writes_per_table=60_000,
        reads_per_table=TABLE_QUOTA,
        scanner_memory_mb=prices.MB_PER_VCPU,
        work_pollers=170,
    )


def deliver_while_scaling(seconds_per_task: float, concurrency: int) -> tuple[float, float]:
    """Return how many of a million are delivered in their minute, and the seconds for the others.

    They are due evenly over the minute. Lambda adds batches from its start on, up to `concurrency`.
    """
    step, at, delivered, in_the_minute = 0.1, 0.0, 0.0, 0.0
    while delivered < MILLION:
        at += step
        batches = min(concurrency, FIRST_BATCHES + MORE_BATCHES * at / 60)
        due = min(1.0, at / 60) * MILLION
        delivered = min(due, delivered + batches / seconds_per_task * step)
        if at <= 60:
            in_the_minute = delivered
    return in_the_minute, max(0.0, at - 60)


def worst_lateness(sending_seconds: float) -> float:
    """Return how late the scanner sends a task at most, in seconds; negative if always early.

    The tasks are due within the minute after 0, evenly spread, and take it `sending_seconds`
    together. Each scan goes on where the one before ended.
    """
    due, worst, scan_at = 0.0, -SCAN_INTERVAL, -2 * SCAN_INTERVAL
    while due < SCAN_INTERVAL:
        horizon = min(SCAN_INTERVAL, scan_at + LOOKAHEAD.total_seconds())
        reached = min(horizon, due + SCAN_INTERVAL * SCAN_SECONDS / sending_seconds)
        for at in (due, reached):
            sent_at = scan_at + (at - due) * sending_seconds / SCAN_INTERVAL
            worst = max(worst, sent_at - at)
        due, scan_at = reached, scan_at + SCAN_INTERVAL
    return worst
