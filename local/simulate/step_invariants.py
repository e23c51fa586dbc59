"""What must hold at every write. A violation ends the simulation at that step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from local.simulate.checks import changes
from local.simulate.checks.changes import TaskWrite
from local.simulate.violation import Violation

BUDGET_WRITES = "spend and reservations stay within the limit in force"
BUDGET_CALLS = "no provider call without its reservation"


@dataclass(frozen=True)
class StepInvariant:
    name: str
    find: Callable[[TaskWrite], Iterator[str | None]]


TASK_INVARIANTS = (
    StepInvariant("only legal moves", changes.legal_move),
    StepInvariant("every write adds one to the version", changes.version_grows),
    StepInvariant("at most one active run", changes.one_active_run),
    StepInvariant("a run that has ended stays ended", changes.ended_for_good),
    StepInvariant("a retry is counted for each counted failure", changes.retries_counted),
    StepInvariant("a task keeps what newer code added", changes.unknown_kept),
    StepInvariant("no task is due before its occurrence", changes.due_not_before_nominal),
    StepInvariant("no run starts before it is due", changes.claimed_when_due),
    StepInvariant("no run starts while its task is paused", changes.claimed_unpaused),
)
STEP_INVARIANT_NAMES = frozenset(
    {*(one.name for one in TASK_INVARIANTS), BUDGET_WRITES, BUDGET_CALLS}
)


def check_write(write: TaskWrite, checked: Counter[str]) -> Violation | None:
    """Return the first violation of this write, if any, and count the checks."""
    for one in TASK_INVARIANTS:
        if (found := find_violation(one.name, one.find(write), checked)) is not None:
            return found
    return None


def find_violation(
    name: str, texts: Iterable[str | None], checked: Counter[str]
) -> Violation | None:
    for text in texts:
        checked[name] += 1
        if text is not None:
            return Violation(name, text)
    return None
