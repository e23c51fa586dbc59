"""The shortest time between two occurrences of a rule."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import islice, pairwise, takewhile

from duecourse.domain.time.recurrence import LAST_YEAR, RecurrenceRule

_OCCURRENCES = 100


def smallest_interval(rule: RecurrenceRule, anchor: datetime) -> timedelta | None:
    """Return the shortest interval of the first hundred occurrences; None if there is only one.

    It is measured on the wall clock, so it does not depend on when summer time begins.
    """
    walls = takewhile(lambda wall: wall.year <= LAST_YEAR, rule.wall_times(anchor, anchor))
    return min((b - a for a, b in pairwise(islice(walls, _OCCURRENCES))), default=None)
