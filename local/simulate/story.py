"""Tell what happened in a simulation: operations, answers, faults, and the calls around them."""

from __future__ import annotations

from local.simulate.simulation import Outcome

MAX_LINES = 80
# Functions whose calls are left out: they run all the time.
_ROUTINE = ("scanner", "sweeper", "alerts", "live", "authorizer")


def to_story(outcome: Outcome) -> list[str]:
    """Return the lines, each with seconds after the start, then the violations."""
    lines = [line for line in outcome.lines if line.split(" ")[1] not in _ROUTINE]
    if len(lines) > MAX_LINES:
        left_out = len(lines) - MAX_LINES
        half = MAX_LINES // 2
        lines = [*lines[:half], f"… {left_out} lines …", *lines[-half:]]
    return [*lines, *(f"violated: {one.invariant}: {one.text}" for one in outcome.violations)]
