"""Collect the stored items that could not be read, until the current function reports them.

The same decorator reports the dispatches that could not be sent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, Protocol, TypeVar

from duecourse.adapters.runtime.unsent_dispatches import report_unsent
from duecourse.domain.errors import UnreadableItemError

METRIC = "ItemsUnreadable"
MAX_COLLECTED = 1_000  # more are not counted
Result = TypeVar("Result")
Handler = Callable[[Any, Any], Result]
_collected: dict[str, UnreadableItemError] = {}


class Logger(Protocol):
    def error(self, msg: object, **fields: Any) -> Any: ...

    def warning(self, msg: object, **fields: Any) -> Any: ...


class Metrics(Protocol):
    def add_metric(self, name: str, unit: str, value: float) -> Any: ...

    def flush_metrics(self) -> Any: ...


def set_aside(error: UnreadableItemError) -> None:
    if len(_collected) < MAX_COLLECTED:
        _collected[error.item] = error


def unreadable_items() -> Sequence[str]:
    """Return the names of the items collected since the last report."""
    return sorted(_collected)


def reports_unreadable(
    logger: Logger, metrics: Metrics, *, has_to_flush: bool = False
) -> Callable[[Handler[Result]], Handler[Result]]:
    """Decorate a Lambda handler to log and count unreadable items and unsent dispatches.

    With `has_to_flush` the metrics are flushed here, and only if there is something to count: the
    function has no `log_metrics`.
    """

    def decorate(handler: Handler[Result]) -> Handler[Result]:
        @wraps(handler)
        def reporting(event: Any, context: Any) -> Result:
            try:
                return handler(event, context)
            finally:
                has_counted = _report(logger, metrics) | report_unsent(logger, metrics)
                if has_counted and has_to_flush:
                    metrics.flush_metrics()

        return reporting

    return decorate


def _report(logger: Logger, metrics: Metrics) -> bool:
    """Log and count the collected items; return whether there were any."""
    errors = list(_collected.values())
    _collected.clear()
    for error in errors:
        logger.error("item_unreadable", item=error.item, reason=error.reason)
    if errors:
        metrics.add_metric(METRIC, "Count", len(errors))
    return bool(errors)
