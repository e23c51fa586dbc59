"""Builds each part on first use, once per container. Nothing is built at import, and what only
some functions use is not even loaded."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache, partial
from typing import TYPE_CHECKING

from duecourse.adapters.clock import SystemClock
from duecourse.adapters.pauses import jittered_pause
from duecourse.adapters.threads import ThreadedFanOut
from duecourse.domain.budget import MICROS
from duecourse.domain.dead_letter import Queue
from duecourse.ports import (
    Breakers,
    Budgets,
    Channel,
    Clock,
    Cursors,
    DeadLetters,
    Deployments,
    ErrorLog,
    FailureQueue,
    FanOut,
    Journal,
    Keys,
    MailRoom,
    Notices,
    Poster,
    Provider,
    Stats,
    Subjects,
    TaskStore,
    WorkQueue,
)
from duecourse.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from types_boto3_sqs.client import SQSClient

    from duecourse.domain.action import Check
    from duecourse.domain.handler import Handler
    from duecourse.domain.policy import Policy
    from duecourse.domain.request import Offer
    from duecourse.usecases.answer_command import Counter
    from duecourse.usecases.create_task import Desk
    from duecourse.usecases.give_verdict import Registry
    from duecourse.usecases.record_failure import Recorder
    from duecourse.usecases.run_task import Worker
    from duecourse.usecases.take_dead_letter import Undertaker
    from duecourse.usecases.verify_task import Court

ATTEMPT_LIMIT = timedelta(seconds=45)  # the worker's own limit leaves it time to report


@dataclass
class _Added:
    """What is added from outside, before anything is built: a deployed stack offers only what it
    has. `loopback_allowed` is the laptop's alone: no setting of a deployed stack can turn it on."""

    channels: dict[str, Channel] = field(default_factory=dict)
    providers: dict[str, Provider] = field(default_factory=dict)
    handlers: dict[str, Handler] = field(default_factory=dict)
    webhook_poster: Poster | None = None
    loopback_allowed: bool = False


_added = _Added()


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
def deployments() -> Deployments:
    from duecourse.adapters.dynamodb.deployments import DynamoDeployments

    _bind_tables()
    return DynamoDeployments()


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
def slow_work_queue() -> WorkQueue:
    from duecourse.adapters.sqs import SqsWorkQueue

    return SqsWorkQueue(_sqs(), settings().slow_work_queue_url)


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
def notices() -> Notices:
    from duecourse.adapters.sqs import SqsNotices

    return SqsNotices(_sqs(), settings().notices_queue_url)


@cache
def mail_room() -> MailRoom:
    from duecourse.adapters.sqs import SqsMailRoom

    urls = {
        Queue.WORK: settings().work_queue_url,
        Queue.SLOW_WORK: settings().slow_work_queue_url,
        Queue.FAILURES: settings().failures_queue_url,
        Queue.NOTICES: settings().notices_queue_url,
    }
    return SqsMailRoom(_sqs(), urls)


def policies() -> Mapping[str, Policy]:
    from duecourse.adapters.policy_files import read_policies

    return read_policies()


def fan_out() -> FanOut:
    return ThreadedFanOut(settings().scanner_threads)


def channels() -> Mapping[str, Channel]:
    return _added.channels


def register_channel(name: str, channel: Channel) -> None:
    _added.channels[name] = channel


def providers() -> Mapping[str, Provider]:
    return {**shipped_providers(), **_added.providers}


@cache
def shipped_providers() -> Mapping[str, Provider]:
    """Those that the deployment offers. Their keys are read when one is asked."""
    from duecourse.adapters.shipped_providers import make_providers

    parts = poster(), provider_keys(), clock()
    return make_providers(settings().providers, *parts, loopback_allowed=_added.loopback_allowed)


def register_provider(name: str, provider: Provider) -> None:
    _added.providers[name] = provider


@cache
def poster() -> Poster:
    from duecourse.adapters.http.outgoing import HttpPoster

    return HttpPoster(loopback_allowed=_added.loopback_allowed)


def webhook_poster() -> Poster:
    return _added.webhook_poster or poster()


def register_webhook_poster(poster: Poster) -> None:
    """In place of the one that posts webhooks: so a laptop can watch it, and make it fail."""
    _added.webhook_poster = poster


def allow_loopback() -> None:
    _added.loopback_allowed = True


@cache
def provider_keys() -> Keys:
    from duecourse.adapters.secret_keys import SecretKeys

    return SecretKeys(settings().provider_keys_secret, clock())


@cache
def signing_keys() -> Keys:
    from duecourse.adapters.secret_keys import SecretKeys

    return SecretKeys(settings().webhook_signing_secret, clock())


def handlers() -> Mapping[str, Handler]:
    return {**_shipped_handlers(), **team_handlers(), **_added.handlers}


def register_handler(name: str, handler: Handler) -> None:
    """It performs that type from now on, whatever did before: so a test kit can watch a handler."""
    _added.handlers[name] = handler


@cache
def team_handlers() -> Mapping[str, Handler]:
    from duecourse.adapters.team_handlers import load_handlers

    return load_handlers(settings().handlers_module, taken=_shipped_handlers())


@cache
def version() -> str:
    """Of the code as deployed: ours, and the team's handlers."""
    from duecourse.adapters.code_version import CORE, code_version
    from duecourse.adapters.team_handlers import code_of

    return code_version(CORE, code_of(settings().handlers_module))


def _shipped_handlers() -> Mapping[str, Handler]:
    from duecourse.handlers.action import ActionHandler
    from duecourse.handlers.enrich import EnrichHandler
    from duecourse.handlers.reminder import ReminderHandler
    from duecourse.handlers.webhook import WebhookHandler

    return {
        "reminder": ReminderHandler(channels()),
        "action": ActionHandler(providers(), budgets(), clock()),
        "enrich": EnrichHandler(providers(), budgets(), clock(), channels()),
        "webhook": WebhookHandler(
            webhook_poster(), signing_keys(), clock(), loopback_allowed=_added.loopback_allowed
        ),
        **_lambda_handler(),
    }


def _lambda_handler() -> Mapping[str, Handler]:
    """Only where there is a function that may be called."""
    if not settings().lambda_functions:
        return {}
    from duecourse.adapters.lambda_invoker import LambdaInvoker
    from duecourse.handlers.lambda_function import LambdaHandler

    allowed = frozenset(settings().lambda_functions)
    return {"lambda": LambdaHandler(LambdaInvoker(), clock(), allowed)}


def offer() -> Offer:
    from duecourse.adapters.policy_files import read_outlines
    from duecourse.domain.action import check_action
    from duecourse.domain.request import Offer

    return Offer(
        types=frozenset(handlers()),
        channels=frozenset(channels()),
        policies={name: policy.max_retries for name, policy in read_outlines().items()},
        default_channel="console" if "console" in channels() else None,
        checks={name: handler.check for name, handler in handlers().items()},
        check_verifier=partial(check_action, providers=_checks()),
    )


def desk() -> Desk:
    from duecourse.usecases.create_task import Desk

    return Desk(task_store(), work_queue(), budgets(), offer())


def counter() -> Counter:
    from duecourse.usecases.answer_command import Counter

    return Counter(desk(), registry(), recorder)


def _checks() -> Mapping[str, Check]:
    return {name: provider.check for name, provider in providers().items()}


def new_id() -> str:
    return str(uuid.uuid4())


@cache
def registry() -> Registry:
    from duecourse.usecases.give_verdict import Registry

    return Registry(task_store(), subjects(), work_queue(), jittered_pause)


@cache
def court() -> Court:
    from duecourse.handlers.verifying import ProviderVerifier
    from duecourse.usecases.verify_task import Court

    return Court(
        registry=registry(),
        failures=failure_queue(),
        verifier=ProviderVerifier(providers(), budgets(), clock()),
        clock=clock(),
        lease=settings().lease,
        time_limit=ATTEMPT_LIMIT,
    )


@cache
def worker() -> Worker:
    from duecourse.usecases.run_task import Worker

    return Worker(
        store=task_store(),
        subjects=subjects(),
        queue=work_queue(),
        slow_queue=slow_work_queue(),
        failures=failure_queue(),
        breakers=breakers(),
        handlers=handlers(),
        court=court(),
        clock=clock(),
        new_id=new_id,
        lease=settings().lease,
        time_limit=ATTEMPT_LIMIT,
        verify_within=settings().verify_within,
        version=version(),
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
    vars(_added).update(vars(_Added()))


@cache
def _bind_tables() -> None:
    from duecourse.adapters.dynamodb.items import bind
    from duecourse.adapters.dynamodb.tracking_items import bind_tracking

    names = settings()
    bind(tasks=names.tasks_table, journal=names.journal_table, state=names.state_table)
    bind_tracking(state=names.state_table, subjects=names.subjects_table, stats=names.stats_table)
