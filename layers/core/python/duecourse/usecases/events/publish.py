"""Publish events on the bus."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from duecourse.domain.errors import PublishError
from duecourse.domain.events.bus_filter import BusFilter, filter_for_bus
from duecourse.domain.events.event import LiveEvent
from duecourse.ports.integrations import EventBus


def publish_events(
    events: Sequence[LiveEvent],
    get_bus: Callable[[], EventBus],
    bus_filter: BusFilter,
    *,
    on_error: Callable[[PublishError], None],
) -> LiveEvent | None:
    """Publish the events that the filter selects; return the first unpublished one, if any.

    The bus is built only if there is something to publish.
    """
    selected = filter_for_bus(events, bus_filter)
    if not selected:
        return None
    try:
        get_bus().publish(selected)
    except PublishError as error:
        on_error(error)
        return selected[error.published_count]
    return None
