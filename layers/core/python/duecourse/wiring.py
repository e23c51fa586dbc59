"""Builds each part on first use, once per container. Nothing is built at import, and what only
some functions use is not even loaded."""

from __future__ import annotations

import uuid
from functools import cache, partial
from typing import TYPE_CHECKING

from duecourse import __version__
from duecourse.adapters.clock import SystemClock
from duecourse.adapters.pauses import jittered_pause
from duecourse.adapters.threads import ThreadedFanOut
from duecourse.domain.action import Check, check_action
from duecourse.domain.budget import MICROS
from duecourse.domain.dead_letter import Queue
from duecourse.domain.request import Offer
from duecourse.handlers.reminder import ReminderHandler
from duecourse.ports import (
    Breakers,
    Budgets,
    Channel,
    Clock,
    Cursors,
    DeadLetters,
    ErrorLog,
    FailureQueue,
    FanOut,
    Handler,
    Journal,
    MailRoom,
    Provider,
    Stats,
    Subjects,
    TaskStore,
    WorkQueue,
)
from duecourse.settings import Settings
from duecourse.usecases.run_task import Worker

if TYPE_CHECKING:
    from collections.abc import Mapping

    from types_boto3_sqs.client import SQSClient

    from duecourse.domain.policy import Policy
    from duecourse.usecases.create_task import Desk
    from duecourse.usecases.record_failure import Recorder
    from duecourse.usecases.take_dead_letter import Undertaker

_channels: dict[str, Channel] = {}
_providers: dict[str, Provider] = {}


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
def error_log() -> ErrorLog:
    from duecourse.adapters.dynamodb.error_log import DynamoErrorLog
    from duecourse.adapters.pauses import jittered_pause

    _bind_tables()
    return DynamoErrorLog(retention=settings().retention, pause=jittered_pause)


@cache
def stats() -> Stats:
    from duecourse.adapters.dynamodb.stats import DynamoStats

    _bind_tables()
    return DynamoStats()


@cache
def cursors() -> Cursors:
    from duecourse.adapters.dynamodb.cursors import DynamoCursors

    _bind_tables()
    return DynamoCursors()


@cache
def breakers() -> Breakers:
    from duecourse.adapters.dynamodb.breakers import DynamoBreakers

    _bind_tables()
    return DynamoBreakers(retention=settings().retention)


@cache
def budgets() -> Budgets:
    from duecourse.adapters.dynamodb.budgets import DynamoBudgets

    _bind_tables()
    default_limit = settings().daily_budget_cents * MICROS // 100
    return DynamoBudgets(default_limit=default_limit, retention=settings().retention)


@cache
def work_queue() -> WorkQueue:
    from duecourse.adapters.sqs import SqsWorkQueue

    return SqsWorkQueue(_sqs(), settings().work_queue_url)


@cache
def _sqs() -> SQSClient:
    import boto3
    from botocore.config import Config

    config = Config(connect_timeout=1, read_timeout=3, retries={"max_attempts": 3})
    client: SQSClient = boto3.client("sqs", config=config)
    return client


@cache
def subjects() -> Subjects:
    from duecourse.adapters.dynamodb.subjects import DynamoSubjects

    _bind_tables()
    return DynamoSubjects()


@cache
def dead_letters() -> DeadLetters:
    from duecourse.adapters.dynamodb.dead_letters import DynamoDeadLetters

    _bind_tables()
    return DynamoDeadLetters(retention=settings().retention)


@cache
def failure_queue() -> FailureQueue:
    from duecourse.adapters.sqs import SqsFailureQueue

    return SqsFailureQueue(_sqs(), settings().failures_queue_url)


@cache
def mail_room() -> MailRoom:
    from duecourse.adapters.sqs import SqsMailRoom

    urls = {Queue.WORK: settings().work_queue_url, Queue.FAILURES: settings().failures_queue_url}
    return SqsMailRoom(_sqs(), urls)


def policies() -> Mapping[str, Policy]:
    from duecourse.adapters.policy_files import read_policies

    return read_policies()


def fan_out() -> FanOut:
    return ThreadedFanOut(settings().scanner_threads)


def channels() -> Mapping[str, Channel]:
    return _channels


def register_channel(name: str, channel: Channel) -> None:
    """Channels are added from outside, so that a deployed stack knows none it cannot serve."""
    _channels[name] = channel


def providers() -> Mapping[str, Provider]:
    return _providers


def register_provider(name: str, provider: Provider) -> None:
    """Like channels: a deployed stack offers only what it has."""
    _providers[name] = provider


def handlers() -> Mapping[str, Handler]:
    from duecourse.handlers.action import ActionHandler

    return {
        "reminder": ReminderHandler(channels()),
        "action": ActionHandler(providers(), budgets(), clock()),
    }


def offer() -> Offer:
    from duecourse.adapters.policy_files import read_outlines

    return Offer(
        types=frozenset(handlers()),
        channels=frozenset(channels()),
        policies={name: policy.max_retries for name, policy in read_outlines().items()},
        default_channel="console" if "console" in channels() else None,
        check_action=partial(check_action, providers=_checks()),
    )


def desk() -> Desk:
    from duecourse.usecases.create_task import Desk

    return Desk(task_store(), work_queue(), budgets(), offer())


def _checks() -> Mapping[str, Check]:
    return {name: provider.check for name, provider in providers().items()}


def new_id() -> str:
    return str(uuid.uuid4())


@cache
def worker() -> Worker:
    return Worker(
        store=task_store(),
        subjects=subjects(),
        queue=work_queue(),
        failures=failure_queue(),
        breakers=breakers(),
        handlers=handlers(),
        clock=clock(),
        new_id=new_id,
        lease=settings().lease,
        version=__version__,
        pause=jittered_pause,
    )


@cache
def recorder() -> Recorder:
    from duecourse.usecases.record_failure import Recorder

    return Recorder(
        store=task_store(),
        subjects=subjects(),
        queue=work_queue(),
        breakers=breakers(),
        policies=policies(),
        clock=clock(),
        pending_retries_limit=settings().pending_retries_limit,
        pause=jittered_pause,
    )


def undertaker() -> Undertaker:
    from duecourse.usecases.take_dead_letter import Undertaker

    return Undertaker(recorder(), dead_letters())


def forget() -> None:
    """Let go of everything built: what is wired next is built from the environment anew."""
    for part in list(globals().values()):
        if hasattr(part, "cache_clear"):
            part.cache_clear()
    _channels.clear()
    _providers.clear()


@cache
def _bind_tables() -> None:
    from duecourse.adapters.dynamodb.items import bind
    from duecourse.adapters.dynamodb.tracking_items import bind_tracking

    names = settings()
    bind(tasks=names.tasks_table, journal=names.journal_table, state=names.state_table)
    bind_tracking(state=names.state_table, subjects=names.subjects_table, stats=names.stats_table)
