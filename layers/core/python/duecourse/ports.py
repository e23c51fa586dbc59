"""What the use cases need from outside, with the guarantees they rely on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol, TypeVar

from duecourse.domain.dispatch import Dispatch
from duecourse.domain.history import Event
from duecourse.domain.run import Run
from duecourse.domain.task import Task

T = TypeVar("T")


class Clock(Protocol):
    def now(self) -> datetime:
        """The present, aware, in UTC."""

    def sleep_until(self, instant: datetime) -> None:
        """Return at the instant or just after it, at once if it has passed."""


@dataclass(frozen=True)
class Filter:
    """Which tasks a listing shows. An empty field lets everything through."""

    channel: str | None = None
    sender_id: str | None = None
    status: str | None = None
    type: str | None = None

    def matches(self, task: Task) -> bool:
        wanted = {name: value for name, value in vars(self).items() if value is not None}
        return all(getattr(task, name) == value for name, value in wanted.items())


@dataclass(frozen=True)
class Page:
    items: Sequence[Task]
    next_cursor: str | None


class TaskStore(Protocol):
    def create(self, task: Task) -> Task:
        """Keep a new task, once: it is returned itself, or the one that has its id already."""

    def get(self, task_id: str) -> Task:
        """The task as last written, never an older state. Raises UnknownTaskError."""

    def find(self, prefix: str) -> Sequence[Task]:
        """The tasks whose id begins so (at least eight characters): few, as last written."""

    def save(self, before: Task, after: Task) -> None:
        """Replace exactly `before`. Raises StaleTaskError for all callers but one.

        A write whose answer was lost is recognised as one's own and does not raise.
        """

    def due(self, shard: int, *, start: datetime | None, end: datetime) -> Iterator[Dispatch]:
        """Open tasks with start <= due_at < end, soonest first. May lag behind the writes."""

    def open_of(self, channel: str, sender_id: str) -> Sequence[Task]:
        """A sender's open tasks, soonest first."""

    def page(self, wanted: Filter, *, limit: int, cursor: str | None) -> Page:
        """Newest first. No task that exists throughout the walk is skipped or repeated."""


class WorkQueue(Protocol):
    def send(self, dispatches: Iterable[Dispatch], *, now: datetime) -> int:
        """Hand over each at its due time or within a second before it; says how many.

        At least once: after an error some may have been sent, and sending again is harmless.
        """


class FanOut(Protocol):
    def __call__(self, work: Callable[[int], T], shards: Sequence[int]) -> Iterable[T]:
        """Do the work for every shard, as far as can be at once. The first error is raised."""


class Cursors(Protocol):
    def load(self) -> Mapping[int, datetime]:
        """Per shard, the instant up to which all was dispatched."""

    def save(self, cursors: Mapping[int, datetime]) -> None: ...


class Journal(Protocol):
    def write(self, task: Task, events: Sequence[Event], run: Run | None) -> None:
        """Keep what one version of a task brought; writing it again changes nothing."""

    def history(self, task_id: str) -> Sequence[Event]:
        """Oldest first."""

    def runs(self, task_id: str) -> Sequence[Run]:
        """Ended runs, oldest first."""


class Channel(Protocol):
    def send(self, target: str, text: str, *, key: str) -> None:
        """Deliver the text or raise. `key` is the same for every attempt at one occurrence."""


class Handler(Protocol):
    """Performs one type of task."""

    def mutate(self, task: Task, *, key: str) -> Any:
        """The one outside effect; what it returns is kept with the run. Raises on failure."""
