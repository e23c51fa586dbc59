"""What people and programs do in a simulation, over HTTP and in chat.

An operation is drawn once, into arguments that can be saved, and run later. `task` is the number
of a task in the order of creation; if that task does not exist, the operation does nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from local.simulate.plan import Operation
from local.simulate.workload.change_operations import CHANGE_OPERATIONS
from local.simulate.workload.chat_operations import CHAT_OPERATIONS
from local.simulate.workload.create_operations import CREATE_OPERATIONS
from local.simulate.workload.operation_kind import Draft, OperationKind
from local.simulate.workload.stack_operations import STACK_OPERATIONS

OPERATIONS: Mapping[str, OperationKind] = {
    **CREATE_OPERATIONS,
    **CHANGE_OPERATIONS,
    **CHAT_OPERATIONS,
    **STACK_OPERATIONS,
}


def draw_operations(rng: Random, count: int, *, seconds: float) -> list[Operation]:
    """Return `count` operations in the first `seconds`, in the order of their times."""
    draft = Draft(rng)
    names = list(OPERATIONS)
    weights = [OPERATIONS[name].weight for name in names]
    times = sorted(round(rng.uniform(0, seconds), 3) for _ in range(count))
    operations = []
    for number, at in enumerate(times):
        is_first = number == 0  # the others need a task
        name = rng.choice(list(CREATE_OPERATIONS)) if is_first else rng.choices(names, weights)[0]
        operations.append(Operation(at, name, OPERATIONS[name].draw(draft)))
    return operations
