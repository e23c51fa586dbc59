"""Builds each part on first use, once per container. Nothing is built at import."""

from __future__ import annotations

import uuid
from functools import cache
from typing import TYPE_CHECKING

from duecourse import __version__
from duecourse.adapters.clock import SystemClock
from duecourse.adapters.threads import ThreadedFanOut
from duecourse.domain.request import Offer
from duecourse.handlers.reminder import ReminderHandler
from duecourse.ports import (
    Channel,
    Clock,
    Cursors,
    FanOut,
    Handler,
    Journal,
    TaskStore,
    WorkQueue,
)
from duecourse.settings import Settings
from duecourse.usecases.run_task import Worker

if TYPE_CHECKING:
    from collections.abc import Mapping

_channels: dict[str, Channel] = {}


@cache
def settings() -> Settings:
    return Settings.from_env()


@cache
def clock() -> Clock:
    return SystemClock()


@cache
def task_store() -> TaskStore:
    from duecourse.adapters.dynamodb.task_store import DynamoTaskStore

    _bind_tables()
    return DynamoTaskStore(shard_count=settings().shard_count, retention=settings().retention)


@cache
def journal() -> Journal:
    from duecourse.adapters.dynamodb.journal import DynamoJournal

    _bind_tables()
    return DynamoJournal(retention=settings().retention)


@cache
def cursors() -> Cursors:
    from duecourse.adapters.dynamodb.cursors import DynamoCursors

    _bind_tables()
    return DynamoCursors()


@cache
def work_queue() -> WorkQueue:
    import boto3
    from botocore.config import Config

    from duecourse.adapters.sqs import SqsWorkQueue

    config = Config(connect_timeout=1, read_timeout=3, retries={"max_attempts": 3})
    return SqsWorkQueue(boto3.client("sqs", config=config), settings().work_queue_url)


def fan_out() -> FanOut:
    return ThreadedFanOut(settings().scanner_threads)


def channels() -> Mapping[str, Channel]:
    return _channels


def register_channel(name: str, channel: Channel) -> None:
    """Channels are added from outside, so that a deployed stack knows none it cannot serve."""
    _channels[name] = channel


def handlers() -> Mapping[str, Handler]:
    return {"reminder": ReminderHandler(channels())}


def offer() -> Offer:
    return Offer(
        types=frozenset(handlers()),
        channels=frozenset(channels()),
        policies=frozenset({"omega"}),
        default_channel="console" if "console" in channels() else None,
    )


def new_id() -> str:
    return str(uuid.uuid4())


@cache
def worker() -> Worker:
    return Worker(
        store=task_store(),
        queue=work_queue(),
        handlers=handlers(),
        clock=clock(),
        new_id=new_id,
        lease=settings().lease,
        version=__version__,
    )


def forget() -> None:
    """Let go of everything built: what is wired next is built from the environment anew."""
    built = (settings, clock, task_store, journal, cursors, work_queue, worker, _bind_tables)
    for part in built:
        part.cache_clear()
    _channels.clear()


@cache
def _bind_tables() -> None:
    from duecourse.adapters.dynamodb.items import bind

    names = settings()
    bind(tasks=names.tasks_table, journal=names.journal_table, state=names.state_table)
