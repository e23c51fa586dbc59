"""What became of a task after a crash at each point of its run, as a table for people."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from duecourse.domain.tasks.run import MutationStatus, Phase, RunStatus
from duecourse.domain.tasks.status import Status

_DONE = (Status.DELIVERED, Status.COMPLETED)
_UNDER_WAY = (Status.PENDING, Status.IN_PROGRESS)


@dataclass(frozen=True)
class Point:
    """Before or after the nth call of its kind; `then` is a second crash, in the run after it."""

    call: str
    nth: int
    when: str
    then: Point | None = None

    def __str__(self) -> str:
        own = f"{self.when} {self.call}" + (f" {self.nth}" if self.nth > 1 else "")
        return f"{own}, then {self.then}" if self.then else own

    def followed_by(self, then: Point) -> Point:
        return replace(self, then=then)


@dataclass(frozen=True)
class RunTold:
    status: RunStatus
    phase: Phase
    mutation: MutationStatus | None

    def __str__(self) -> str:
        if self.status is RunStatus.COMMITTED:
            return self.status
        return f"{self.status} ({', '.join(filter(None, (self.phase, self.mutation)))})"


@dataclass(frozen=True)
class Round:
    """One task and its crash; `point` is None for the run without any."""

    point: Point | None
    status: Status
    effects: int
    runs: Sequence[RunTold]
    error: str | None = None

    @property
    def is_doubled(self) -> bool:
        return self.effects > 1

    @property
    def is_broken(self) -> bool:
        """The handler's own code failed as it took up the work of a run that was lost."""
        return any(run.status is RunStatus.FAILED_LOGIC for run in self.runs)

    @property
    def is_lost(self) -> bool:
        """Nobody will bring the effect about, and nobody is asked whether it happened."""
        is_over = self.status not in _UNDER_WAY and not self.is_in_doubt and not self.is_broken
        return self.status in _UNDER_WAY or (is_over and self.effects == 0)

    @property
    def is_in_doubt(self) -> bool:
        """It waits for a person, who is to say whether the effect has happened."""
        last = self.runs[-1].mutation if self.runs else None
        is_asked = self.status is Status.BLOCKED and last is MutationStatus.INDETERMINATE
        return is_asked and not self.is_broken

    @property
    def is_well(self) -> bool:
        return self.status in _DONE and self.effects == 1

    def to_json(self) -> dict[str, Any]:
        return {
            "crash": str(self.point) if self.point else None,
            "status": self.status,
            "effects": self.effects,
            "runs": [vars(run) for run in self.runs],
            "error": self.error,
        }


@dataclass(frozen=True)
class Report:
    """`is_harmless`: the handler declares that its effect may be repeated."""

    type: str
    rounds: Sequence[Round]
    is_harmless: bool = False

    @property
    def doubles(self) -> list[Point]:
        return self._where(lambda one: one.is_doubled)

    @property
    def lost(self) -> list[Point]:
        return self._where(lambda one: one.is_lost)

    @property
    def in_doubt(self) -> list[Point]:
        return self._where(lambda one: one.is_in_doubt)

    @property
    def broken(self) -> list[Point]:
        return self._where(lambda one: one.is_broken)

    @property
    def is_sound(self) -> bool:
        return not (self.lost or self.broken or (self.doubles and not self.is_harmless))

    @property
    def crashes(self) -> int:
        return sum(one.point is not None for one in self.rounds)

    def to_json(self) -> dict[str, Any]:
        return {
            "type": self.type,
            "is_sound": self.is_sound,
            "repeat_is_harmless": self.is_harmless,
            "doubles": [str(point) for point in self.doubles],
            "lost": [str(point) for point in self.lost],
            "in_doubt": [str(point) for point in self.in_doubt],
            "broken": [str(point) for point in self.broken],
            "rounds": [one.to_json() for one in self.rounds],
        }

    def __str__(self) -> str:
        rows = [("a crash", "ends as", "effects", "runs"), *map(_row, self.rounds)]
        widths = [max(len(row[column]) for row in rows) for column in range(3)]
        lines = [_line(row, widths) for row in rows]
        return "\n".join([*lines, "", *self.findings()])

    def findings(self) -> Iterator[str]:
        yield f"{self.type}: {self.crashes} crashes."
        if self.lost:
            yield f"THE EFFECT IS LOST: {_at(self.lost)}"
        if self.broken:
            yield f"ITS OWN CODE FAILS: {_at(self.broken)}"
        if self.doubles and self.is_harmless:
            yield f"Its repeat is declared harmless. The effect comes twice: {_at(self.doubles)}"
        elif self.doubles:
            yield f"THE EFFECT COMES TWICE: {_at(self.doubles)}"
        if self.in_doubt:
            yield f"A person is asked whether it happened: {_at(self.in_doubt)}"
        if not (self.lost or self.doubles or self.broken):
            yield "The effect is never lost and never comes twice."

    def _where(self, holds: Callable[[Round], bool]) -> list[Point]:
        return [one.point for one in self.rounds if one.point is not None and holds(one)]


def _row(one: Round) -> tuple[str, str, str, str]:
    runs = ", ".join(map(str, one.runs)) or "none"
    return (str(one.point or "(none)"), one.status, str(one.effects), runs)


def _line(row: tuple[str, str, str, str], widths: Sequence[int]) -> str:
    padded = [text.ljust(width) for text, width in zip(row, widths, strict=False)]
    return "  ".join([*padded, row[3]])


def _at(points: Sequence[Point]) -> str:
    """Those after one crash by name; those after a second one follow from them."""
    first = [str(point) for point in points if point.then is None]
    seconds = len(points) - len(first)
    return "; ".join(first + ([f"{seconds} times after a second crash"] if seconds else [])) + "."
