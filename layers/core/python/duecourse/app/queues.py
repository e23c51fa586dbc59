"""Build the queues and the event bus, each on first use and once per container."""

from __future__ import annotations

from collections import deque
from functools import cache
from typing import TYPE_CHECKING

from duecourse.app import stores
from duecourse.domain.dispatch.dead_letter import Queue
from duecourse.ports.integrations import EventBus
from duecourse.ports.queues import (
    ChatQueue,
    FailureQueue,
    NotificationQueue,
    SourceQueues,
    WorkQueue,
)

if TYPE_CHECKING:
    from botocore.config import Config
    from types_boto3_events.client import EventBridgeClient
    from types_boto3_sqs.client import SQSClient


@cache
def work_queue() -> WorkQueue:
    from duecourse.adapters.aws.sqs import SqsWorkQueue

    return SqsWorkQueue(_sqs_client(), stores.settings().work_queue_url)


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
def sent_notification_keys() -> deque[str]:
    """Return the idempotency keys of notifications that this container sent last."""
    return deque(maxlen=1_000)


@cache
def chat_queue() -> ChatQueue:
    from duecourse.adapters.aws.sqs import SqsChatQueue

    return SqsChatQueue(_sqs_client(), stores.settings().chat_queue_url)


@cache
def source_queues() -> SourceQueues:
    from duecourse.adapters.aws.sqs import SqsSourceQueues

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
    import boto3

    from duecourse.adapters.aws.eventbridge import EventBridgeBus
    from duecourse.adapters.runtime.backoff import sleep_with_jitter

    client: EventBridgeClient = boto3.client("events", config=_short_timeouts())
    return EventBridgeBus(client, stores.settings().event_bus, backoff=sleep_with_jitter)


@cache
def _sqs_client() -> SQSClient:
    import boto3

    client: SQSClient = boto3.client("sqs", config=_short_timeouts())
    return client


def _short_timeouts() -> Config:
    """Return timeouts shorter than a function's own; boto3's defaults are longer."""
    from botocore.config import Config

    return Config(connect_timeout=1, read_timeout=3, retries={"max_attempts": 3})
