"""Collect the stored items that could not be read, until the current function reports them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, Protocol, TypeVar

from duecourse.domain.errors import UnreadableItemError

METRIC = "ItemsUnreadable"
MOST = 1_000  # more are not counted
Result = TypeVar("Result")
Handler = Callable[[Any, Any], Result]
_met: dict[str, UnreadableItemError] = {}


class Logger(Protocol):
    def error(self, msg: object, **fields: Any) -> Any: ...


class Metrics(Protocol):
    def add_metric(self, name: str, unit: str, value: float) -> Any: ...


def set_aside(error: UnreadableItemError) -> None:
    if len(_met) < MOST:
        _met[error.item] = error


def unreadable_items() -> Sequence[str]:
    """Return the names of the items collected since the last report."""
    return sorted(_met)


def reports_unreadable(
    logger: Logger, metrics: Metrics | None = None
) -> Callable[[Handler[Result]], Handler[Result]]:
    """Decorate a Lambda handler to log every unreadable item, and to count them in `metrics`."""

    def decorate(handler: Handler[Result]) -> Handler[Result]:
        @wraps(handler)
        def reporting(event: Any, context: Any) -> Result:
            try:
                return handler(event, context)
            finally:
                _report(logger, metrics)

        return reporting

    return decorate


def _report(logger: Logger, metrics: Metrics | None) -> None:
    errors = list(_met.values())
    _met.clear()
    for error in errors:
        logger.error("item_unreadable", item=error.item, reason=error.reason)
    if errors and metrics is not None:
        metrics.add_metric(METRIC, "Count", len(errors))
