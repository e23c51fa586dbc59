"""Celery's tasks: one that succeeds, and one that fails once and is retried at once."""

from __future__ import annotations

import os
from typing import Any

from celery import Celery

from bench.peers.progress import note_success

app = Celery("peers", broker=os.environ.get("BROKER_URL", ""))  # noqa: TID251 - set by the runner
app.conf.update(
    task_ignore_result=True,
    task_acks_late=True,
    worker_prefetch_multiplier=10,
    broker_connection_retry_on_startup=True,
)


@app.task
def succeed(_n: int) -> None:
    note_success()


@app.task(bind=True, max_retries=3)
def fail_once(self: Any, _n: int) -> None:
    if self.request.retries == 0:
        raise self.retry(exc=ConnectionError("socket hang up"), countdown=0)
    note_success()


def send(kind: str, n: int) -> None:
    {"succeed": succeed, "fail_once": fail_once}[kind].delay(n)
