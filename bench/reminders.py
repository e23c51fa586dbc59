"""Measure everyday work: one-shot reminders created over HTTP and delivered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from enum import StrEnum
from random import Random

from duecourse.domain.time.instant import to_text

from bench.meter import Meter
from bench.scenario import STARTS_AT, Batches, Posted, add_bus_rule, create_tasks, measured_stack
from local.runtime.stack import Stack

SEED = 20260217
# too far ahead to be enqueued directly: the scanner dispatches all of them
MIN_DELAY = timedelta(minutes=5)
INTERVAL = timedelta(hours=1) / 1000  # on average, a thousand are due per hour
_TOPICS = ("the supplier about the invoice", "Ada about the release", "the landlord about heating")


class Due(StrEnum):
    WHOLE_MINUTES = "whole minutes"
    RANDOM_SECONDS = "random seconds"


def measure_reminders(
    count: int,
    due: Due = Due.WHOLE_MINUTES,
    batches: Batches = Batches.AS_THEY_COME,
    *,
    has_bus_rule: bool = False,
) -> Meter:
    """Return what `count` reminders cost until each has been delivered exactly once.

    For full batches all are due in the same minute. With a bus rule, the event bus has a rule that
    matches every event.
    """
    posted = list(_reminders(count, due, is_same_minute=batches is Batches.FULL))
    with measured_stack(batches) as (stack, meter):
        stack.skips_idle_ticks = False  # they cost, too
        if has_bus_rule:
            add_bus_rule()
        with meter.observe(stack):
            create_tasks(stack, posted, batches)
            stack.advance(MIN_DELAY + count * INTERVAL + timedelta(minutes=2))
        _check_arrivals(stack, posted)
    return meter


def _reminders(count: int, due: Due, *, is_same_minute: bool) -> Iterator[Posted]:
    rng = Random(SEED)  # noqa: S311 - the same reminders every time
    window = timedelta(minutes=1) if is_same_minute else count * INTERVAL
    for n in range(count):
        due_at = STARTS_AT + MIN_DELAY + window * (rng.randrange(10**6) / 10**6)
        if due is Due.WHOLE_MINUTES:
            due_at = due_at.replace(second=0, microsecond=0)
        body = {
            "type": "reminder",
            "channel": "console",
            "sender_id": f"U{rng.randrange(16**9):09X}",
            "reply_target": f"C{rng.randrange(16**9):09X}",
            "description": f"Call {_TOPICS[n % len(_TOPICS)]} ({n:04d})",
            "due_at": to_text(due_at),
            "timezone": "Europe/Berlin",
        }
        yield Posted(body, f"bench {n}")


def _check_arrivals(stack: Stack, posted: list[Posted]) -> None:
    due_times = {f"Reminder: {one.body['description']}": one.body["due_at"] for one in posted}
    if Counter(sent.content.text for sent in stack.outbox.sent) != Counter(due_times.keys()):
        raise RuntimeError("not every reminder arrived exactly once, so nothing was measured")
    moments = {sent.content.text: sent.at for sent in stack.outbox.sent}
    if early := [text for text, due_at in due_times.items() if moments[text] < due_at]:
        raise RuntimeError(f"{len(early)} reminders arrived before their time")
