"""Measure what a deployed stack costs a month while no task is due.

The calls of the scheduled functions are counted on the local stack over an hour. Queues, alarms and
secrets are counted in template.yaml.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from bench import prices
from bench.meter import Usage
from bench.prices import Pricing
from bench.scenario import measured_stack
from local.runtime.template import load_template, resources_of_type

HOURS_PER_MONTH = 730
KEY_CACHE_PERIODS_PER_HOUR = 12
# The sweeper checks for a new deployment until its rollout is over.
_SETTLE = timedelta(hours=1)
_HOUR = timedelta(hours=1)


@dataclass(frozen=True)
class Charge:
    """One line of the bill. `quantity` is per month."""

    label: str
    quantity: float
    dollars: float


def measure_idle() -> list[Charge]:
    with measured_stack() as (stack, meter):
        stack.skips_idle_ticks = False
        stack.advance(_SETTLE)
        with meter.observe(stack):
            stack.advance(_HOUR)
    return make_charges(load_template(), meter.usage, metric_count=len(meter.metrics))


def make_charges(
    template: dict[str, Any], hour: Mapping[str, Usage], *, metric_count: int
) -> list[Charge]:
    """Return the monthly charges of a stack whose functions do in every hour what `hour` says."""
    secrets = len(resources_of_type(template, "AWS::SecretsManager::Secret"))
    alarm_metrics = sum(
        _count_metrics(alarm)
        for alarm in resources_of_type(template, "AWS::CloudWatch::Alarm").values()
    )
    return [
        *_usage_charges(hour, Pricing(template)),
        _polling_charge(template),
        Charge("CloudWatch metrics", metric_count, metric_count * prices.PER_METRIC_MONTH),
        Charge("CloudWatch alarms", alarm_metrics, alarm_metrics * prices.PER_ALARM_METRIC_MONTH),
        Charge("secrets", secrets, secrets * prices.PER_SECRET_MONTH),
    ]


def _usage_charges(hour: Mapping[str, Usage], pricing: Pricing) -> list[Charge]:
    usage = hour.values()
    invocations = sum(one.invocations for one in usage) * HOURS_PER_MONTH
    gb_seconds = pricing.gb_seconds(hour) * HOURS_PER_MONTH
    reads = sum(one.read_units for one in usage) * HOURS_PER_MONTH
    writes = sum(one.write_units for one in usage) * HOURS_PER_MONTH
    key_requests = _key_requests(hour)
    log_gb = pricing.log_bytes(hour) * HOURS_PER_MONTH / 1e9
    return [
        Charge("Lambda requests", invocations, invocations * prices.PER_INVOCATION),
        Charge("Lambda GB-seconds", gb_seconds, gb_seconds * prices.PER_GB_SECOND_ARM64),
        Charge("DynamoDB read units", reads, reads * prices.PER_READ_UNIT),
        Charge("DynamoDB write units", writes, writes * prices.PER_WRITE_UNIT),
        Charge("KMS requests", key_requests, key_requests * prices.PER_KMS_REQUEST),
        Charge("GB of logs", log_gb, log_gb * prices.PER_LOG_GB),
    ]


def _key_requests(hour: Mapping[str, Usage]) -> int:
    """Return DynamoDB's requests for the keys of the tables. It caches a key for five minutes."""
    pairs = sum(len(one.tables) for one in hour.values())
    return pairs * KEY_CACHE_PERIODS_PER_HOUR * HOURS_PER_MONTH


def _polling_charge(template: dict[str, Any]) -> Charge:
    mappings = resources_of_type(template, "AWS::Lambda::EventSourceMapping").values()
    sources = [mapping["EventSourceArn"]["Fn::GetAtt"][0] for mapping in mappings]
    queues = resources_of_type(template, "AWS::SQS::Queue")
    polled = [queues[source] for source in sources if source in queues]
    per_queue = prices.POLLERS * 3600 / prices.LONG_POLL_SECONDS * HOURS_PER_MONTH
    dollars = sum(
        per_queue * (prices.PER_FIFO_REQUEST if queue.get("FifoQueue") else prices.PER_SQS_REQUEST)
        for queue in polled
    )
    return Charge(f"SQS polls of {len(polled)} queues", per_queue * len(polled), dollars)


def _count_metrics(alarm: Mapping[str, Any]) -> int:
    """Return how many metrics the alarm is billed for. A metric math alarm has several."""
    return sum("MetricStat" in metric for metric in alarm.get("Metrics", ())) or 1


def format_idle(charges: list[Charge]) -> list[str]:
    total = sum(charge.dollars for charge in charges)
    return [
        f"{'An idle stack, per month':<26}{'quantity':>14}{'dollars':>10}",
        *(f"  {one.label:<24}{_format_quantity(one):>14}{one.dollars:>10.2f}" for one in charges),
        f"  {'total':<38}{total:>10.2f}",
        "",
        f"Assumed: {prices.POLLERS} pollers per queue (Lambda may reduce them to 2), long polls of",
        f"{prices.LONG_POLL_SECONDS} s, the durations above.",
        "Free tiers are not subtracted. Stored data and backups are not included.",
    ]


def _format_quantity(charge: Charge) -> str:
    return f"{charge.quantity:,.2f}" if charge.quantity < 1 else f"{charge.quantity:,.0f}"
