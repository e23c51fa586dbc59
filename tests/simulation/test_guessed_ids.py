"""Who guesses at the ids of others learns nothing, neither from the answer nor from its time."""

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

MOST_APART = 1.5  # times as long
Guess = tuple[str, bool]  # an id, and whether it is that of a task


def test_ten_thousand_guesses_tell_nothing() -> None:
    tasks = [a_task(id=f"{n * 7_919:08x}-0000-4000-8000-000000000000") for n in range(50)]
    bench = ChatHarness(*tasks)
    found: list[Task] = []
    find = bench.store.find

    def watched(*args: Any, **named: Any) -> Sequence[Task]:
        found.extend(find(*args, **named))
        return found

    bench.store.find = watched  # type: ignore[method-assign]
    took = [
        _asked(guess, bench.context) for guess in _guesses(10_000, [one.id[:8] for one in tasks])
    ]

    assert found == []  # nothing of another's has left the store
    assert _apart(took) < MOST_APART


def test_a_running_stack_takes_as_long_for_anothers_id_as_for_an_unknown_one(
    client: StackClient,
) -> None:
    real = [client.create(**{"in": "1h"})["short_id"] for _ in range(20)]
    chat = client.stack.scheduler.call(services.chat_context)
    guesses = _guesses(300, real)
    took = client.stack.scheduler.call(lambda: [_asked(guess, chat) for guess in guesses])
    assert _apart(took) < MOST_APART


def _guesses(count: int, real: Sequence[str]) -> list[Guess]:
    rng = Random(5)  # noqa: S311 - a guess
    guesses = [(rng.choice(real), True) for _ in range(count // 2)]
    guesses += [(f"{rng.getrandbits(32):08x}", False) for _ in range(count // 2)]
    rng.shuffle(guesses)
    return guesses


def _asked(guess: Guess, chat: ChatContext) -> tuple[bool, float]:
    task_id, is_real = guess
    message = a_message(f"/cancel {task_id}", sender_id="mallory")
    began = perf_counter()
    said = dispatch_command(message, chat, now=NOW)
    took = perf_counter() - began
    assert said.text == f"There is no task {task_id}. /tasks lists yours."
    return is_real, took


def _apart(took: Sequence[tuple[bool, float]]) -> float:
    """How many times as long the one kind takes, typically, as the other."""
    anothers, unknown = (median(t for real, t in took if real is kind) for kind in (True, False))
    return max(anothers, unknown) / min(anothers, unknown)
