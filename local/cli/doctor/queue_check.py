"""Check the queues: no dead letters, and no message that waits for long."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from local.cli.client.times import format_span
from local.cli.doctor.aws import make_client
from local.cli.doctor.deployed_stack import DeployedStack
from local.cli.doctor.metrics import read_metric
from local.cli.doctor.result import CheckResult, failed, ok, warning
from local.stack_resources import QUEUE

MAX_AGE = timedelta(minutes=15)
_COUNTS = ("ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible")
# Notifications wait in their queue through quiet hours, so their age says nothing.
_DEFERRING = "NoticesQueue"


def check_queues(stack: DeployedStack, *, now: datetime) -> CheckResult:
    queues = stack.resources.of_type(QUEUE)
    dead = {name: url for name, url in queues.items() if "DeadLetter" in name}
    client = make_client("sqs")
    counts = {name: _count(client, url) for name, url in dead.items()}
    if filled := [f"{name} ({count})" for name, count in counts.items() if count]:
        advice = "Read the log of the deadletter function, which should have taken them."
        return failed("queues", f"dead letters in {', '.join(filled)}", advice)
    ages = _read_ages({name: url for name, url in queues.items() if name not in dead}, now=now)
    if old := [
        f"{name} ({format_span(age)})"
        for name, age in ages.items()
        if age > MAX_AGE.total_seconds()
    ]:
        advice = "Read the log of the function that reads the queue, and its alarms."
        return warning("queues", f"messages wait in {', '.join(old)}", advice)
    return ok("queues", f"{len(queues)} queues, no dead letters, no message waits for long")


def _count(client: Any, url: str) -> int:
    found = client.get_queue_attributes(QueueUrl=url, AttributeNames=[*_COUNTS])["Attributes"]
    return sum(int(found.get(name, 0)) for name in _COUNTS)


def _read_ages(queues: dict[str, str], *, now: datetime) -> dict[str, float]:
    client = make_client("cloudwatch")
    metric = "AWS/SQS:ApproximateAgeOfOldestMessage"
    found = {
        name: read_metric(
            client, metric, ("QueueName", url.rpartition("/")[2]), statistic="Maximum", now=now
        )
        for name, url in queues.items()
        if name != _DEFERRING
    }
    return {name: age for name, age in found.items() if age is not None}
