"""Run what follows a committed change. Its errors cannot undo the commit."""

from __future__ import annotations

from collections.abc import Callable


def run_follow_up(step: Callable[[], object]) -> str | None:
    """Run the step. Return the name of its error, None if there was none."""
    try:
        step()
    except Exception as error:  # noqa: BLE001 - of whatever kind, the change is committed
        return type(error).__name__
    return None
