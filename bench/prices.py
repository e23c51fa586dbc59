"""Public on-demand prices of us-east-1 in dollars, and assumptions where calls tell nothing.

Sources: the pricing pages of DynamoDB, SQS, Lambda, API Gateway, EventBridge, CloudWatch, Secrets
Manager and KMS at https://aws.amazon.com/SERVICE/pricing/, as of September 2026.
"""

from __future__ import annotations

from collections.abc import Mapping

from bench.meter import Usage

PER_WRITE_UNIT = 0.625e-6
PER_READ_UNIT = 0.125e-6
PER_SQS_REQUEST = 0.40e-6
PER_FIFO_REQUEST = 0.50e-6
PER_INVOCATION = 0.20e-6
PER_GB_SECOND_ARM64 = 0.0000133334
PER_HTTP_API_CALL = 1.00e-6
PER_BUS_EVENT = 1.00e-6
PER_METRIC_MONTH = 0.30
PER_ALARM_METRIC_MONTH = 0.10
PER_LOG_GB = 0.50
PER_SECRET_MONTH = 0.40
PER_KMS_REQUEST = 0.03e-4
MEMORY_GB = 0.5

# Lambda's pollers of one SQS queue at low traffic, before it optimises them to as few as 2:
# https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-scaling.html
POLLERS = 5
LONG_POLL_SECONDS = 20  # SQS's longest; AWS does not document which one Lambda uses
# START, END and REPORT of Lambda, and one line of metrics.
ASSUMED_LOG_BYTES = 1_000

# Duration of a warm invocation in milliseconds, without its calls to AWS.
ASSUMED_MS: Mapping[str, int] = {
    "api": 30,
    "scanner": 20,
    # Sleeps half a second on average: a message's delay is rounded down to whole seconds.
    "worker": 520,
    "journal": 20,
    "live": 20,
    "sweeper": 20,
    "alerts": 20,
}
ASSUMED_MS_PER_CALL = 6


def price_usage(usage: Mapping[str, Usage]) -> dict[str, float]:
    """Return dollars by billed item, without API Gateway and the event bus."""
    parts = usage.values()
    return {
        "DynamoDB writes": PER_WRITE_UNIT * sum(part.write_units for part in parts),
        "DynamoDB reads": PER_READ_UNIT * sum(part.read_units for part in parts),
        "SQS requests": PER_SQS_REQUEST * sum(part.sqs_requests for part in parts),
        "Lambda requests": PER_INVOCATION * sum(part.invocations for part in parts),
        "Lambda GB-seconds": PER_GB_SECOND_ARM64 * billed_gb_seconds(usage),
    }


def billed_gb_seconds(usage: Mapping[str, Usage]) -> float:
    return MEMORY_GB * sum(_milliseconds(name, part) for name, part in usage.items()) / 1000


def _milliseconds(function: str, usage: Usage) -> int:
    calls = ASSUMED_MS_PER_CALL * usage.calls.total()
    return ASSUMED_MS.get(function, 0) * usage.invocations + calls
