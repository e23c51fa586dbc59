"""Skipping idle ticks changes nothing: every tick that would do something still runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from random import Random
from typing import Any

import pytest

from local.runtime import aws_clients
from local.runtime.idle_ticks import TickFinder
from tests.support.stack_client import DEFAULT_SHARD_COUNT, StackClient, running_stack

SEEDS = (1, 2, 3)
HOURS = 4
FIELDS = ("description", "status", "due_at", "delivered_at", "retry_count", "last_error")
LOGIC_ERROR = {"error": {"message": "TypeError: x is undefined", "type": "TypeError"}}
AUTH_ERROR = {"error": {"message": "401 Unauthorized: the key was revoked", "status": 401}}
DOWN = {"error": {"message": "503 Service Unavailable", "status": 503}}
REPLY = {"reply": "Done.\nACTION_OUTCOME: success"}


def _populate(client: StackClient, seed: int) -> None:
    """Create tasks of all kinds that scanner, sweeper and alerts look at."""
    rng = Random(seed)  # noqa: S311 - the same tasks in every run
    for n in range(12):
        _create(client, f"reminder {n}", **_wait(rng))
    for n in range(8):
        script = rng.choices([LOGIC_ERROR, AUTH_ERROR, DOWN, REPLY], k=3)
        payload = {"provider": "scripted", "script": script}
        fields = {"type": "action", "payload": payload, "max_retries": rng.randrange(1, 4)}
        _create(client, f"action {n}", **_wait(rng), **fields)
    _create(client, "series", repeat="0 * * * *")
    for _ in range(rng.randrange(2)):
        _add_dead_letter(client)
    crash = {"function": "worker", "call": "channel.send", "nth": rng.randrange(1, 6)}
    client.add_fault(**crash)  # leaves an expired lease for the sweeper


def _create(client: StackClient, description: str, **fields: Any) -> None:
    body = {"channel": "console", "reply_target": "ada", "sender_id": "ada", **fields}
    # The key gives the same ids, hence the same shards and jitter, in every run.
    answer = client.call(
        "POST",
        "/tasks",
        {"description": description, **body},
        headers={"idempotency-key": description},
    )
    assert answer.status == 201, answer.body


def _wait(rng: Random) -> dict[str, Any]:
    return {"in": rng.choice([rng.randrange(1, 300), rng.randrange(300, HOURS * 3000)])}


def _add_dead_letter(client: StackClient) -> None:
    sqs = aws_clients.client("sqs")
    url = sqs.get_queue_url(QueueName="WorkDeadLetterQueue")["QueueUrl"]
    client.stack.scheduler.call(lambda: sqs.send_message(QueueUrl=url, MessageBody="?"))
    client.stack.scheduler.wait_until_idle()


@dataclass
class SearchCheck:
    """What a comparison of each search with a dry run of every single tick found."""

    tick_count: int = 0
    wrong: list[str] = field(default_factory=list)

    def check(
        self, finder: TickFinder, first: datetime, until: datetime, next_tick: datetime | None
    ) -> None:
        tick = first
        while tick <= until and tick != next_tick:
            self.tick_count += 1
            if finder._run_dry(tick).has_effect:
                self.wrong.append(f"{tick} would be skipped, until {next_tick or until}")
            tick += finder._period
        if next_tick is not None and not finder._run_dry(next_tick).has_effect:
            self.wrong.append(f"{next_tick} has no effect")


@pytest.fixture
def search_check(monkeypatch: pytest.MonkeyPatch) -> SearchCheck:
    search, result = TickFinder.first_needed, SearchCheck()

    def first_needed(finder: TickFinder, first: datetime, until: datetime) -> datetime | None:
        found = search(finder, first, until)
        result.check(finder, first, until, found)
        return found

    monkeypatch.setattr(TickFinder, "first_needed", first_needed)
    return result


@pytest.mark.parametrize("seed", SEEDS)
def test_no_tick_with_an_effect_is_skipped(seed: int, search_check: SearchCheck) -> None:
    with running_stack(shard_count=DEFAULT_SHARD_COUNT) as client:
        _populate(client, seed)
        client.advance(f"{HOURS}h")

    assert search_check.wrong == []
    assert search_check.tick_count > 100


def test_searching_a_tick_that_waits_takes_no_real_time(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr("local.runtime.clock._real_sleep", slept.append)
    with running_stack() as client:
        # The scanner waits for the fraction of the second before it sends the message.
        client.create(due_at="2026-02-17T12:05:10.500Z")
        client.advance("6m")

        assert client.outbox("ada")
    assert slept == []


@pytest.mark.parametrize("seed", SEEDS)
def test_skipping_gives_the_same_result_as_running_every_tick(seed: int) -> None:
    skipping, ticks_run = _run(seed, is_skipping=True)
    running_all, all_ticks = _run(seed, is_skipping=False)

    assert skipping == running_all
    assert ticks_run < all_ticks / 2


def _run(seed: int, *, is_skipping: bool) -> tuple[Any, int]:
    """Return the tasks, their history and all messages, and how many scheduled ticks ran."""
    invoked: list[str] = []
    with running_stack(shard_count=DEFAULT_SHARD_COUNT) as client:
        _populate(client, seed)
        client.stack.functions.on_invoke = invoked.append
        client.stack.skips_idle_ticks = is_skipping
        client.advance("2h")
        tasks = client.items("/tasks?limit=100")
        ended = [tuple(one[name] for name in FIELDS) for one in tasks]
        history = [client.items(f"/tasks/{one['id']}/history") for one in tasks]
        events = [[(event["type"], event["at"]) for event in events] for events in history]
        sent = [(one["target"], one["text"], one["at"]) for one in client.outbox()]
        ticks = sum(name in ("scanner", "sweeper", "alerts") for name in invoked)
        return (ended, events, sent), ticks
