"""Send messages at the fraction of a second at which they become visible close to their due time.

An SQS delay is whole seconds, and the worker sleeps for the rest, which costs its memory for half a
second on average. The scanner is ahead of the due times, so it waits instead, once for all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from duecourse.domain.dispatch.timing import Dispatch, aligned_send_time

if TYPE_CHECKING:
    from duecourse.ports.queues import WorkQueue
    from duecourse.ports.runtime import Clock

GROUP_WIDTH = timedelta(milliseconds=50)  # messages that are sent together


def send_aligned(
    dispatches: Sequence[Dispatch], *, queue: WorkQueue, clock: Clock, deadline: datetime
) -> int:
    """Send all messages and return how many, waiting for a better moment until `deadline`."""
    sent = 0
    for send_at, group in _group(dispatches, now=clock.now()):
        if send_at <= deadline:
            clock.sleep_until(send_at)
        sent += queue.send(group, now=clock.now())
    return sent


def _group(
    dispatches: Sequence[Dispatch], *, now: datetime
) -> Iterator[tuple[datetime, list[Dispatch]]]:
    """Yield messages to send together, with the time to send them, soonest first."""
    timed = sorted((aligned_send_time(one.due_at, now=now), one) for one in dispatches)
    while timed:
        # Messages that may be sent at once are; others wait for the end of their group.
        first = timed[0][0]
        send_at = first if first <= now else first + GROUP_WIDTH
        group = [one for at, one in timed if at <= send_at]
        yield send_at, group
        timed = timed[len(group) :]
