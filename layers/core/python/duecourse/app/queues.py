"""Build the queues and the event bus, each on first use and once per container."""

from __future__ import annotations

from datetime import timedelta
from functools import cache
from typing import TYPE_CHECKING

from duecourse.app import stores

if TYPE_CHECKING:
    from botocore.config import Config
    from types_boto3_events.client import EventBridgeClient
    from types_boto3_sqs.client import SQSClient

    from duecourse.ports.integrations import EventBus
    from duecourse.ports.queues import (
        ChatQueue,
        FailureQueue,
        JournalDeadLetters,
        NotificationQueue,
        SourceQueues,
        StreamReader,
        WorkQueue,
    )

MAX_SEND_TIME = timedelta(seconds=12)


@cache
def work_queue() -> WorkQueue:
    """Return the queue that sends each dispatch to the work queue of its lane."""
    from duecourse.adapters.aws.sqs import LaneWorkQueue, SqsWorkQueue

    fast_queue = SqsWorkQueue(_sqs_client(), stores.settings().work_queue_url)
    return LaneWorkQueue(fast_queue, slow_work_queue())


@cache
def slow_work_queue() -> WorkQueue:
    from duecourse.adapters.aws.sqs import SqsWorkQueue

    return SqsWorkQueue(_sqs_client(), stores.settings().slow_work_queue_url)


@cache
def failure_queue() -> FailureQueue:
    from duecourse.adapters.aws.sqs import SqsFailureQueue

    return SqsFailureQueue(_sqs_client(), stores.settings().failures_queue_url)


@cache
def notification_queue() -> NotificationQueue:
    from duecourse.adapters.aws.sqs import SqsNotificationQueue

    return SqsNotificationQueue(_sqs_client(), stores.settings().notifications_queue_url)


@cache
def journal_dead_letters() -> JournalDeadLetters:
    from duecourse.adapters.aws.journal_dead_letters import SqsJournalDeadLetters

    return SqsJournalDeadLetters(_sqs_client(), stores.settings().journal_dead_letter_queue_url)


@cache
def stream_reader() -> StreamReader:
    import boto3

    from duecourse.adapters.aws.dynamodb.stream_reader import DynamoStreamReader

    return DynamoStreamReader(boto3.client("dynamodbstreams", config=_short_timeouts()))


@cache
def chat_queue() -> ChatQueue:
    from duecourse.adapters.aws.sqs import SqsChatQueue

    return SqsChatQueue(_sqs_client(), stores.settings().chat_queue_url)


@cache
def source_queues() -> SourceQueues:
    from duecourse.adapters.aws.sqs import SqsSourceQueues
    from duecourse.domain.dispatch.dead_letter import Queue

    urls = {
        Queue.WORK: stores.settings().work_queue_url,
        Queue.SLOW_WORK: stores.settings().slow_work_queue_url,
        Queue.FAILURES: stores.settings().failures_queue_url,
        Queue.NOTIFICATIONS: stores.settings().notifications_queue_url,
        Queue.CHAT: stores.settings().chat_queue_url,
    }
    return SqsSourceQueues(_sqs_client(), urls)


@cache
def event_bus() -> EventBus:
    from duecourse.adapters.aws.bus_rules import BusRules
    from duecourse.adapters.aws.clients import make_client
    from duecourse.adapters.aws.eventbridge import EventBridgeBus
    from duecourse.adapters.runtime.backoff import sleep_with_jitter

    client: EventBridgeClient = make_client("events", _short_timeouts())
    name = stores.settings().event_bus
    rules = BusRules(client, name, stores.clock())
    return EventBridgeBus(client, name, rules, backoff=sleep_with_jitter)


@cache
def _sqs_client() -> SQSClient:
    from duecourse.adapters.aws.clients import make_client

    client: SQSClient = make_client("sqs", sqs_timeouts())
    return client


def sqs_timeouts() -> Config:
    """Return timeouts with which all attempts together end within MAX_SEND_TIME.

    The API stores a task and then sends it. If SQS does not answer, the API still has to.
    """
    from botocore.config import Config

    return Config(connect_timeout=1, read_timeout=2, retries={"max_attempts": 2})


def _short_timeouts() -> Config:
    """Return timeouts shorter than a function's own; botocore's defaults are longer."""
    from botocore.config import Config

    return Config(connect_timeout=1, read_timeout=3, retries={"max_attempts": 3})
