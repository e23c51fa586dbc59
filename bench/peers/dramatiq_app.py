"""Dramatiq's actors: one that succeeds, and one that fails once and is retried at once."""

from __future__ import annotations

import os

import dramatiq
from dramatiq.brokers.redis import RedisBroker
from dramatiq.middleware import CurrentMessage

from bench.peers.progress import note_success

broker = RedisBroker(url=os.environ.get("BROKER_URL", ""))  # noqa: TID251 - set by the runner
broker.add_middleware(CurrentMessage())
dramatiq.set_broker(broker)


@dramatiq.actor
def succeed(_n: int) -> None:
    note_success()


@dramatiq.actor(max_retries=3, min_backoff=1, max_backoff=1)
def fail_once(_n: int) -> None:
    message = CurrentMessage.get_current_message()
    if message is not None and not message.options.get("retries"):
        raise ConnectionError("socket hang up")
    note_success()


def send(kind: str, n: int) -> None:
    {"succeed": succeed, "fail_once": fail_once}[kind].send(n)
