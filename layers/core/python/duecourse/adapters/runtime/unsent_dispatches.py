"""Collect the dispatches that could not be sent, until the current function reports them.

Their tasks are stored, so whoever stored them succeeded; the sweeper sends them when overdue.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from duecourse.domain.time.instant import to_text

if TYPE_CHECKING:
    from duecourse.domain.dispatch.timing import Dispatch

METRIC = "DispatchesNotSent"
_MAX_ERROR_LENGTH = 300
_collected: list[tuple[Dispatch, Exception]] = []


class Logger(Protocol):
    def warning(self, msg: object, **fields: Any) -> Any: ...


class Metrics(Protocol):
    def add_metric(self, name: str, unit: str, value: float) -> Any: ...


def note_unsent(dispatch: Dispatch, error: Exception) -> None:
    _collected.append((dispatch, error))


def report_unsent(logger: Logger, metrics: Metrics) -> bool:
    """Log and count the collected dispatches; return whether there were any."""
    unsent = list(_collected)
    _collected.clear()
    for dispatch, error in unsent:
        logger.warning(
            "dispatch_not_sent",
            task_id=dispatch.task_id,
            due_at=to_text(dispatch.due_at),
            error=f"{type(error).__name__}: {error}"[:_MAX_ERROR_LENGTH],
        )
    if unsent:
        metrics.add_metric(METRIC, "Count", len(unsent))
    return bool(unsent)
