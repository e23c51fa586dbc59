"""Measure everyday work: one-shot reminders created over HTTP and delivered."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

from duecourse.domain.time.instant import to_text

from bench.meter import Meter
from local.runtime.api_gateway import Gateway, Request
from local.runtime.stack import DEFAULT_TOKEN, Stack
from local.runtime.template import load_template

SEED = 20260217
STARTS_AT = datetime(2026, 2, 17, 12, tzinfo=UTC)
# too far ahead to be enqueued directly: the scanner dispatches all of them
MIN_DELAY = timedelta(minutes=10)
DUE_WINDOW = timedelta(hours=1)
_TOPICS = ("the supplier about the invoice", "Ada about the release", "the landlord about heating")


def measure_reminders(count: int, *, is_whole_minutes: bool) -> Meter:
    """Return what `count` reminders cost until each has been delivered exactly once."""
    stack = Stack(is_clock_manual=True, starts_at=STARTS_AT)
    stack.start(log_level="CRITICAL")
    try:
        stack.skips_idle_ticks = False  # they cost, too
        meter = Meter(load_template())
        with meter.observe(stack):
            expected = _create_reminders(stack, count, is_whole_minutes=is_whole_minutes)
            stack.advance(MIN_DELAY + DUE_WINDOW + timedelta(minutes=2))
            _check_arrivals(stack, expected)
    finally:
        stack.stop()
    return meter


def _create_reminders(stack: Stack, count: int, *, is_whole_minutes: bool) -> list[tuple[str, str]]:
    """Create the reminders and return their texts and due times."""
    gateway, expected = Gateway(stack), []
    for n, fields in enumerate(_reminders(count, whole_minutes=is_whole_minutes)):
        body = json.dumps(fields).encode()
        headers = {
            "content-type": "application/json",
            "authorization": f"Bearer {DEFAULT_TOKEN}",
            # gives the same ids, hence the same shards, in every run
            "idempotency-key": f"bench {n}",
        }
        reply = gateway.handle(Request("POST", "/tasks", headers, body, "127.0.0.1"))
        if reply.status != 201:
            raise RuntimeError(f"creating a reminder answered {reply.status}: {reply.body!r}")
        expected.append((f"Reminder: {fields['description']}", fields["due_at"]))
    return expected


def _reminders(count: int, *, whole_minutes: bool) -> Iterator[dict[str, Any]]:
    rng = Random(SEED)  # noqa: S311 - the same reminders every time
    for n in range(count):
        wait = MIN_DELAY + timedelta(
            milliseconds=rng.randrange(DUE_WINDOW // timedelta(milliseconds=1))
        )
        due_at = STARTS_AT + wait
        if whole_minutes:
            due_at = due_at.replace(second=0, microsecond=0)
        yield {
            "type": "reminder",
            "channel": "console",
            "sender_id": f"U{rng.randrange(16**9):09X}",
            "reply_target": f"C{rng.randrange(16**9):09X}",
            "description": f"Call {_TOPICS[n % len(_TOPICS)]} ({n:04d})",
            "due_at": to_text(due_at),
            "timezone": "Europe/Berlin",
        }


def _check_arrivals(stack: Stack, expected: list[tuple[str, str]]) -> None:
    arrived = Counter(sent.content.text for sent in stack.outbox.sent)
    if arrived != Counter(text for text, _ in expected):
        raise RuntimeError("not every reminder arrived exactly once, so nothing was measured")
    moments = {sent.content.text: sent.at for sent in stack.outbox.sent}
    if early := [text for text, due_at in expected if moments[text] < due_at]:
        raise RuntimeError(f"{len(early)} reminders arrived before their time")
