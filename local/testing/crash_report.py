"""What happened to a task after a crash at each point of its run, as a table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from duecourse.domain.tasks.run import MutationStatus, Phase, RunStatus
from duecourse.domain.tasks.status import Status

_SUCCESS_STATUSES = (Status.DELIVERED, Status.COMPLETED)
_ACTIVE_STATUSES = (Status.PENDING, Status.IN_PROGRESS)


@dataclass(frozen=True)
class CrashPoint:
    """Before or after the nth call of a kind. `next_crash` is a second crash, in the next run."""

    call: str
    nth: int
    when: str
    next_crash: CrashPoint | None = None

    def __str__(self) -> str:
        own = f"{self.when} {self.call}" + (f" {self.nth}" if self.nth > 1 else "")
        return f"{own}, then {self.next_crash}" if self.next_crash else own

    def followed_by(self, next_crash: CrashPoint) -> CrashPoint:
        return replace(self, next_crash=next_crash)


@dataclass(frozen=True)
class RunSummary:
    status: RunStatus
    phase: Phase
    mutation: MutationStatus | None

    def __str__(self) -> str:
        if self.status is RunStatus.COMMITTED:
            return self.status
        return f"{self.status} ({', '.join(filter(None, (self.phase, self.mutation)))})"


@dataclass(frozen=True)
class CrashCase:
    """The outcome of one task and its crash. `point` is None for the run without a crash."""

    point: CrashPoint | None
    status: Status
    effects: int
    runs: Sequence[RunSummary]
    error: str | None = None

    @property
    def is_duplicated(self) -> bool:
        return self.effects > 1

    @property
    def is_broken(self) -> bool:
        """Return whether the handler's own code failed while resuming after a crash."""
        return any(run.status is RunStatus.FAILED_LOGIC for run in self.runs)

    @property
    def is_lost(self) -> bool:
        """Return whether the effect will neither happen nor be questioned by a person."""
        is_over = (
            self.status not in _ACTIVE_STATUSES and not self.is_indeterminate and not self.is_broken
        )
        return self.status in _ACTIVE_STATUSES or (is_over and self.effects == 0)

    @property
    def is_indeterminate(self) -> bool:
        """Return whether the task waits for a person to say whether the effect happened."""
        last = self.runs[-1].mutation if self.runs else None
        is_asked = self.status is Status.BLOCKED and last is MutationStatus.INDETERMINATE
        return is_asked and not self.is_broken

    @property
    def is_successful(self) -> bool:
        return self.status in _SUCCESS_STATUSES and self.effects == 1

    def to_json(self) -> dict[str, Any]:
        return {
            "crash": str(self.point) if self.point else None,
            "status": self.status,
            "effects": self.effects,
            "runs": [vars(run) for run in self.runs],
            "error": self.error,
        }


@dataclass(frozen=True)
class CrashReport:
    """`is_idempotent`: the handler declares that repeating its effect is safe."""

    type: str
    cases: Sequence[CrashCase]
    is_idempotent: bool = False

    @property
    def duplicated(self) -> list[CrashPoint]:
        return self._points_where(lambda one: one.is_duplicated)

    @property
    def lost(self) -> list[CrashPoint]:
        return self._points_where(lambda one: one.is_lost)

    @property
    def indeterminate(self) -> list[CrashPoint]:
        return self._points_where(lambda one: one.is_indeterminate)

    @property
    def broken(self) -> list[CrashPoint]:
        return self._points_where(lambda one: one.is_broken)

    @property
    def is_sound(self) -> bool:
        return not (self.lost or self.broken or (self.duplicated and not self.is_idempotent))

    @property
    def crash_count(self) -> int:
        return sum(one.point is not None for one in self.cases)

    def to_json(self) -> dict[str, Any]:
        return {
            "type": self.type,
            "is_sound": self.is_sound,
            "idempotent": self.is_idempotent,
            "doubles": [str(point) for point in self.duplicated],
            "lost": [str(point) for point in self.lost],
            "in_doubt": [str(point) for point in self.indeterminate],
            "broken": [str(point) for point in self.broken],
            "rounds": [one.to_json() for one in self.cases],
        }

    def __str__(self) -> str:
        rows = [("crash", "final status", "effects", "runs"), *map(_format_row, self.cases)]
        widths = [max(len(row[column]) for row in rows) for column in range(3)]
        lines = [_format_line(row, widths) for row in rows]
        return "\n".join([*lines, "", *self.findings()])

    def findings(self) -> Iterator[str]:
        yield f"{self.type}: {self.crash_count} crashes simulated."
        if self.lost:
            yield f"EFFECT LOST: {_format_points(self.lost)}"
        if self.broken:
            yield f"HANDLER CODE FAILED: {_format_points(self.broken)}"
        if self.duplicated and self.is_idempotent:
            points = _format_points(self.duplicated)
            yield f"Effect repeated, which the handler declares safe: {points}"
        elif self.duplicated:
            yield f"EFFECT REPEATED: {_format_points(self.duplicated)}"
        if self.indeterminate:
            yield f"A person has to say whether it happened: {_format_points(self.indeterminate)}"
        if not (self.lost or self.duplicated or self.broken):
            yield "The effect is never lost and never repeated."

    def _points_where(self, holds: Callable[[CrashCase], bool]) -> list[CrashPoint]:
        return [one.point for one in self.cases if one.point is not None and holds(one)]


def _format_row(one: CrashCase) -> tuple[str, str, str, str]:
    runs = ", ".join(map(str, one.runs)) or "none"
    return (str(one.point or "none"), one.status, str(one.effects), runs)


def _format_line(row: tuple[str, str, str, str], widths: Sequence[int]) -> str:
    padded = [text.ljust(width) for text, width in zip(row, widths, strict=False)]
    return "  ".join([*padded, row[3]])


def _format_points(points: Sequence[CrashPoint]) -> str:
    """Return the points of first crashes, and only the number of second ones."""
    first = [str(point) for point in points if point.next_crash is None]
    seconds = len(points) - len(first)
    return "; ".join(first + ([f"{seconds} times after a second crash"] if seconds else [])) + "."
