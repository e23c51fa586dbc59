"""Measure the cost of a successful action and of one retry, for actions created over HTTP."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from duecourse.domain.tasks.task import API_CHANNEL

from bench.meter import Meter
from bench.scenario import Batches, Posted, create_tasks, measured_stack, request
from local.runtime.api_gateway import Gateway
from local.runtime.stack import Stack

MIN_DELAY = timedelta(minutes=5)
# Longer than the delay of a retry, so that no circuit breaker sees several failures in a row.
APART = timedelta(seconds=37)
AT_ONCE = timedelta(0)
CHAT = "console"  # stands for any chat platform
NETWORK_ERROR = {"message": "socket hang up", "code": "ECONNRESET"}
# Retried after a quarter of an hour, so failures can be measured without their retries. It opens no
# circuit breaker, so ten of them at once are ten ordinary failures.
MEMORY_ERROR = {"message": "FATAL ERROR: Reached heap limit: JavaScript heap out of memory"}
# Opens no circuit breaker either, and is retried after two minutes.
CODE_ERROR = {"message": 'src/app.ts(45,12): error TS2304: Cannot find name "foo"'}
_REPLY_ENTRY = {"reply": "The report is in the shared folder.\nACTION_OUTCOME: success"}


def measure_actions(
    count: int,
    error: Mapping[str, str] | None = None,
    *,
    interval: timedelta = APART,
    has_idle_ticks: bool = False,
    channel: str = API_CHANNEL,
    has_subjects: bool = False,
) -> Meter:
    """Return what `count` actions cost that succeed, after a failure with `error` if there is one.

    As on AWS, nobody is notified of an action that a program creates without a channel. With a
    chat channel, its owner is notified of failures and of success. With `has_subjects`, each
    action has a subject of its own.

    They are due at this interval; those due at once are created in a burst. Ticks without an effect
    are skipped unless `has_idle_ticks`: of few actions they would be most of the cost.
    """
    batches = Batches.AS_THEY_COME if interval else Batches.FULL
    script: list[Mapping[str, Any]] = [*([{"error": error}] if error else []), _REPLY_ENTRY]
    with measured_stack(batches) as (stack, meter):
        stack.skips_idle_ticks = not has_idle_ticks
        posted = [make_action(n, script, n * interval, channel) for n in range(count)]
        if has_subjects:
            posted = [_with_subject(one, f"record {n}") for n, one in enumerate(posted)]
        with meter.observe(stack):
            task_ids = create_tasks(stack, posted, batches)
            last_retry = timedelta(minutes=5 if error else 0)
            stack.advance(MIN_DELAY + count * interval + last_retry + timedelta(minutes=2))
        _check_runs(stack, task_ids, len(script))
    return meter


def measure_failures(count: int, *, interval: timedelta, is_executed: bool = True) -> Meter:
    """Return what `count` actions cost until each has failed once, without their retries.

    With `is_executed` False, what they cost before they are executed.
    """
    batches = Batches.AS_THEY_COME if interval else Batches.FULL
    posted = [make_action(n, [{"error": MEMORY_ERROR}], n * interval) for n in range(count)]
    with measured_stack(batches) as (stack, meter):
        with meter.observe(stack):
            task_ids = create_tasks(stack, posted, batches)
            if is_executed:
                stack.advance(MIN_DELAY + count * interval + timedelta(minutes=1))
        _check_failures(stack, task_ids, int(is_executed))
    return meter


def make_action(
    n: int, script: Sequence[Mapping[str, Any]], after: timedelta, channel: str = API_CHANNEL
) -> Posted:
    body = {
        "type": "action",
        "channel": channel,
        "description": f"Put the weekly report into the shared folder ({n:04d})",
        "in": (MIN_DELAY + after).total_seconds(),
        "payload": {"provider": "scripted", "script": script},
    }
    return Posted(body, f"action {n}")


def _with_subject(posted: Posted, subject: str) -> Posted:
    """Return the request with a subject and the policy that an action without one has."""
    return replace(posted, body={**posted.body, "subject": subject, "policy": "agent"})


def _check_runs(stack: Stack, task_ids: Sequence[str], runs: int) -> None:
    gateway = Gateway(stack)
    for task_id in task_ids:
        is_done = request(gateway, "GET", f"/tasks/{task_id}")["status"] == "completed"
        if not is_done or len(request(gateway, "GET", f"/tasks/{task_id}/runs")["items"]) != runs:
            raise RuntimeError(f"task {task_id} did not end as expected, so nothing was measured")


def _check_failures(stack: Stack, task_ids: Sequence[str], retry_count: int) -> None:
    gateway = Gateway(stack)
    for task_id in task_ids:
        if request(gateway, "GET", f"/tasks/{task_id}")["retry_count"] != retry_count:
            raise RuntimeError(f"task {task_id} did not fail as expected, so nothing was measured")
