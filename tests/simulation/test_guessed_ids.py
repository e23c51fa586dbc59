"""Guessing the ids of others reveals nothing, neither by the reply nor by its timing."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from statistics import median
from time import perf_counter
from typing import Any

from duecourse.app import services
from duecourse.domain.tasks.task import Task
from duecourse.usecases.chat.context import ChatContext
from duecourse.usecases.chat.dispatch_command import dispatch_command

from tests.support.builders.chat import a_message
from tests.support.builders.moments import NOW
from tests.support.builders.tasks import a_task
from tests.support.chat_harness import ChatHarness
from tests.support.stack_client import StackClient

MAX_TIME_RATIO = 1.5  # ratio of the medians
Guess = tuple[str, bool]  # an id, and whether a task has it


def test_ten_thousand_guesses_reveal_nothing() -> None:
    tasks = [a_task(id=f"{n * 7_919:08x}-0000-4000-8000-000000000000") for n in range(50)]
    bench = ChatHarness(*tasks)
    returned: list[Sequence[Task]] = []
    find = bench.store.find

    def find_and_record(*args: Any, **keywords: Any) -> Sequence[Task]:
        returned.append(find(*args, **keywords))
        return returned[-1]

    bench.store.find = find_and_record  # type: ignore[method-assign]
    durations = [
        _time_guess(guess, bench.context)
        for guess in _make_guesses(10_000, [task.id[:8] for task in tasks])
    ]

    assert len(returned) == 10_000
    assert [tasks for tasks in returned if tasks] == []  # no task of another sender
    assert _time_ratio(durations) < MAX_TIME_RATIO


def test_a_running_stack_takes_equally_long_for_existing_and_unknown_ids(
    client: StackClient,
) -> None:
    existing = [client.create(**{"in": "1h"})["short_id"] for _ in range(20)]
    chat = client.stack.scheduler.call(services.chat_context)
    guesses = _make_guesses(300, existing)
    durations = client.stack.scheduler.call(lambda: [_time_guess(guess, chat) for guess in guesses])
    assert _time_ratio(durations) < MAX_TIME_RATIO


def _make_guesses(count: int, existing: Sequence[str]) -> list[Guess]:
    rng = Random(5)  # noqa: S311 - a guess
    guesses = [(rng.choice(existing), True) for _ in range(count // 2)]
    guesses += [(f"{rng.getrandbits(32):08x}", False) for _ in range(count // 2)]
    rng.shuffle(guesses)
    return guesses


def _time_guess(guess: Guess, chat: ChatContext) -> tuple[bool, float]:
    task_id, is_existing = guess
    message = a_message(f"/cancel {task_id}", sender_id="mallory")
    started = perf_counter()
    reply = dispatch_command(message, chat, now=NOW)
    duration = perf_counter() - started
    assert reply.text == f"There is no task {task_id}. /tasks lists yours."
    return is_existing, duration


def _time_ratio(durations: Sequence[tuple[bool, float]]) -> float:
    """Return the ratio of the median durations for existing and unknown ids."""
    existing, unknown = (
        median(seconds for is_existing_id, seconds in durations if is_existing_id is is_existing)
        for is_existing in (True, False)
    )
    return max(existing, unknown) / min(existing, unknown)
