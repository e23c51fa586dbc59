"""Measure the cost of one scanner tick, independent of what else is stored."""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID

from duecourse.adapters.aws.dynamodb.models import TaskItem
from duecourse.adapters.aws.dynamodb.task_mapper import to_item
from duecourse.app import stores
from duecourse.domain.tasks.task import Task

from bench.meter import Meter, Usage
from local.runtime.call_interceptor import attribute_calls_to
from local.runtime.stack import Stack
from local.runtime.template import load_template

SCANNER = "scanner"


def measure_scan(stack: Stack) -> tuple[int, Usage]:
    """Return how many tasks a tick dispatches now, and what it costs."""
    meter = Meter(load_template())
    with meter.observe(stack):
        # stack.invoke would also wait until the streams are processed.
        result = stack.scheduler.call(lambda: stack.functions.invoke(SCANNER, {}))
    return result["dispatched"], meter.usage[SCANNER]


def seed(stack: Stack, count: int, *, first_due_at: datetime, interval: timedelta) -> None:
    """Write reminders directly to the table, bypassing the API and its dispatch."""

    def create() -> None:
        stores.task_store()  # binds the models to their tables
        settings = stores.settings()
        with attribute_calls_to("api"), TaskItem.batch_write() as batch:
            for n in range(count):
                task = _task(n, first_due_at + n * interval)
                shards, retention = settings.shard_count, settings.retention
                batch.save(to_item(task, shard_count=shards, retention=retention))

    stack.scheduler.call(create)


def _task(n: int, due_at: datetime) -> Task:
    # The number comes first, because it selects the shard; the time separates two seedings.
    task_id = str(UUID(int=(n << 96) | int(due_at.timestamp() * 1000), version=4))
    return Task(
        id=task_id,
        type="reminder",
        channel="console",
        sender_id="ada",
        reply_target="ada",
        description="Call the supplier about the invoice",
        due_at=due_at,
        nominal_at=due_at,
        created_at=due_at - timedelta(days=8),
        anchor=due_at.replace(tzinfo=None),
    )
