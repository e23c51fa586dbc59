"""Public on-demand prices of us-east-1 in dollars, and assumptions where calls tell nothing.

Sources: the pricing pages of DynamoDB, SQS, Lambda, API Gateway, EventBridge, CloudWatch, Secrets
Manager and KMS at https://aws.amazon.com/SERVICE/pricing/, as of September 2026.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bench.log_meter import access_log_bytes, system_log_bytes
from bench.meter import Usage
from local.runtime.template import resources_of_type
from local.testing.faults import short_name

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
PER_SECRET_READ = 0.05e-4
PER_KMS_REQUEST = 0.03e-4

# Lambda's pollers of one SQS queue at low traffic, before it optimises them to as few as 2:
# https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-scaling.html
POLLERS = 5
LONG_POLL_SECONDS = 20  # SQS's longest; AWS does not document which one Lambda uses

# A function has one vCPU at this memory, and less in proportion:
# https://docs.aws.amazon.com/lambda/latest/dg/configuration-memory.html
MB_PER_VCPU = 1769
# Milliseconds of a whole vCPU, and of waiting for AWS. `make bench-cpu` measures about half of the
# former: 0.7 to 1 ms for an invocation and 0.3 to 0.4 ms for a call. Lambda's vCPUs may be slower.
CPU_MS_PER_INVOCATION = 2.0
CPU_MS_PER_CALL = 0.75
# Of the scanner for a task in a long scan, as measured: 0.10 to 0.12 ms for each of 400 tasks, of
# which the queries of all lanes take 0.02.
CPU_MS_PER_DISPATCH = 0.1
NETWORK_MS_PER_CALL = 4.0
MB_PER_GB = 1024

API = "api"


class Pricing:
    """Prices what functions used, by their memory and log settings in the template."""

    def __init__(self, template: dict[str, Any]) -> None:
        functions = resources_of_type(template, "AWS::Lambda::Function")
        self._functions = {short_name(name): one for name, one in functions.items()}
        self._access_log_bytes = access_log_bytes(template)

    def price(self, usage: Mapping[str, Usage]) -> dict[str, float]:
        """Return dollars by billed item."""
        parts = usage.values()
        http_calls = usage[API].invocations if API in usage else 0
        log_bytes = self.log_bytes(usage) + http_calls * self._access_log_bytes
        return {
            "DynamoDB writes": PER_WRITE_UNIT * sum(part.write_units for part in parts),
            "DynamoDB reads": PER_READ_UNIT * sum(part.read_units for part in parts),
            "SQS requests": PER_SQS_REQUEST * sum(part.sqs_requests for part in parts),
            "Lambda requests": PER_INVOCATION * sum(part.invocations for part in parts),
            "Lambda GB-seconds": PER_GB_SECOND_ARM64 * self.gb_seconds(usage),
            "HTTP API": PER_HTTP_API_CALL * http_calls,
            "event bus": PER_BUS_EVENT * sum(part.bus_events for part in parts),
            "logs": PER_LOG_GB * log_bytes / 1e9,
            "reads of secrets": PER_SECRET_READ * sum(part.secret_reads for part in parts),
        }

    def gb_seconds(self, usage: Mapping[str, Usage]) -> float:
        return sum(
            self.seconds(name, part) * self.memory_mb(name) / MB_PER_GB
            for name, part in usage.items()
            if name in self._functions
        )

    def seconds(self, function: str, usage: Usage) -> float:
        """Return the billed duration of all invocations of a function."""
        calls = usage.calls.total()
        cpu_ms = CPU_MS_PER_INVOCATION * usage.invocations + CPU_MS_PER_CALL * calls
        share = min(1.0, self.memory_mb(function) / MB_PER_VCPU)
        return (cpu_ms / share + NETWORK_MS_PER_CALL * calls) / 1000 + usage.slept_seconds

    def log_bytes(self, usage: Mapping[str, Usage]) -> int:
        """Return the bytes of the functions' own lines and of Lambda's."""
        return sum(
            part.log_bytes + part.invocations * system_log_bytes(self._functions[name])
            for name, part in usage.items()
            if name in self._functions
        )

    def memory_mb(self, function: str) -> int:
        return int(self._functions[function]["MemorySize"])
