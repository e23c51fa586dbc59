"""What an operation is: how it is drawn, how it is run, and what it covers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from random import Random
from typing import Any

from local.simulate.actor import Actor
from local.simulate.start import STARTS_AT
from local.simulate.workload.follow_ups import FollowUp

Arguments = dict[str, Any]
Run = Callable[[Actor, Arguments], None]
SENDERS = ("ada", "bob")


@dataclass
class Draft:
    """The plan so far: how many tasks it creates over HTTP, and how many in chat.

    `starts_at` is when its simulation starts, `at` the time of the operation that is drawn, in
    seconds after that.
    """

    rng: Random
    task_count: int = 0
    said_count: int = 0
    starts_at: datetime = STARTS_AT
    at: float = 0.0

    def new_task(self) -> int:
        self.task_count += 1
        return self.task_count

    def new_text(self, text: str) -> str:
        """Return the text with a number: no two tasks of a plan are called the same."""
        self.said_count += 1
        return f"{text} {self.said_count}"

    def some_task(self) -> int:
        return self.rng.randint(1, max(1, self.task_count))

    def delay(self) -> str:
        return f"{self.rng.choice((1, 2, 5, 20, 45, 70, 130))}s"

    def sender(self) -> str:
        return self.rng.choice(SENDERS)


@dataclass(frozen=True)
class OperationKind:
    """`covers`: the routes and chat commands that it uses, such as `POST /tasks` or `/remind`.

    `follow_ups`: what may be done next about the same task.
    """

    weight: int
    draw: Callable[[Draft], Arguments]
    run: Run
    covers: tuple[str, ...] = ()
    follow_ups: tuple[FollowUp, ...] = ()


def draw_nothing(_draft: Draft) -> Arguments:
    return {}


def draw_task(draft: Draft) -> Arguments:
    return {"task": draft.some_task()}


def draw_sender(draft: Draft) -> Arguments:
    return {"sender": draft.sender()}


def select(arguments: Arguments, *names: str) -> Arguments:
    return {name: arguments[name] for name in names if name in arguments}
