"""What people and programs do in a simulation, over HTTP and in chat.

An operation is drawn once, into arguments that can be saved, and run later. `task` is the number
of a task in the order of creation; if that task does not exist, the operation does nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from random import Random

from local.simulate.plan import Operation
from local.simulate.start import STARTS_AT
from local.simulate.workload.change_operations import CHANGE_OPERATIONS
from local.simulate.workload.chat_operations import CHAT_OPERATIONS
from local.simulate.workload.create_operations import CREATE_OPERATIONS
from local.simulate.workload.follow_ups import FollowUp
from local.simulate.workload.live_operations import LIVE_OPERATIONS
from local.simulate.workload.operation_kind import Draft, OperationKind
from local.simulate.workload.series_operations import SERIES_OPERATIONS
from local.simulate.workload.stack_operations import STACK_OPERATIONS
from local.simulate.workload.work_operations import WORK_OPERATIONS

_CREATING: Mapping[str, OperationKind] = {
    **CREATE_OPERATIONS,
    **WORK_OPERATIONS,
    **SERIES_OPERATIONS,
}
OPERATIONS: Mapping[str, OperationKind] = {
    **_CREATING,
    **CHANGE_OPERATIONS,
    **CHAT_OPERATIONS,
    **STACK_OPERATIONS,
    **LIVE_OPERATIONS,
}
_FOLLOWED_PART = 0.6  # of the operations after which another one may follow
_EARLY_PART = 0.05
_SHARED_ARGUMENTS = ("budget", "subject", "sender")


def draw_operations(
    rng: Random,
    count: int,
    *,
    seconds: float,
    starts_at: datetime = STARTS_AT,
    more: Sequence[str] = (),
) -> list[Operation]:
    """Return `count` operations in the first `seconds`, and `more` by name, in the order of time.

    An operation that follows from another one has its own time, which may be later.
    """
    draft = Draft(rng, starts_at=starts_at)
    operations: list[Operation] = []
    follow_up: Operation | None = None
    for number, at in enumerate(sorted(round(rng.uniform(0, seconds), 3) for _ in range(count))):
        drawn = follow_up or _draw(draft, _draw_name(rng, is_first=number == 0), at)
        operations.append(drawn)
        follow_up = _draw_follow_up(draft, drawn)
    operations += [_draw(draft, name, round(rng.uniform(0, seconds / 3), 3)) for name in more]
    return sorted(operations, key=lambda one: one.at)


def _draw_name(rng: Random, *, is_first: bool) -> str:
    """Draw an operation. The first one creates a task: the others need one."""
    kinds = _CREATING if is_first else OPERATIONS
    weights = None if is_first else [kind.weight for kind in kinds.values()]
    return rng.choices(list(kinds), weights)[0]


def _draw(draft: Draft, name: str, at: float) -> Operation:
    """Draw the arguments. A listener is there early, to be sent what happens."""
    draft.at = at = round(at * _EARLY_PART, 3) if name in LIVE_OPERATIONS else at
    return Operation(at, name, OPERATIONS[name].draw(draft))


def _draw_follow_up(draft: Draft, first: Operation) -> Operation | None:
    """Draw what is done next about the task of `first`, or None."""
    choices = OPERATIONS[first.name].follow_ups
    if not choices or draft.rng.random() >= _FOLLOWED_PART:
        return None
    chosen = draft.rng.choice(choices)
    following = _draw(draft, chosen.name, _draw_time(draft.rng, first, chosen))
    arguments = {**following.arguments}
    number = first.arguments.get("new", first.arguments.get("task"))
    if "task" in arguments and number is not None:
        arguments["task"] = number
    for name in _SHARED_ARGUMENTS:
        if name in arguments and name in first.arguments:
            arguments[name] = first.arguments[name]
    return Operation(following.at, following.name, arguments)


def _draw_time(rng: Random, first: Operation, chosen: FollowUp) -> float:
    delay = float(str(first.arguments.get("in", "0s")).removesuffix("s"))
    seconds = rng.uniform(chosen.earliest, chosen.latest)
    return round(max(first.at + chosen.gap, first.at + delay + seconds), 3)
