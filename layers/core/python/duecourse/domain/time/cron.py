"""Five-field cron lines on the wall clock, parsed and evaluated by cronsim."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import dropwhile

from cronsim import CronSim, CronSimError

from duecourse.domain.time.recurrence import RecurrenceError

# Any date works: `parse` only checks that there is a match at all.
_SEARCH_START = datetime.fromisoformat("2000-01-01T00:00:00")


@dataclass(frozen=True)
class CronRule:
    line: str

    def wall_times(self, _anchor: datetime, start: datetime) -> Iterator[datetime]:
        """Iterate over the matching wall times from `start` on.

        The iterator ends if cronsim finds no match for 50 years.
        """
        return dropwhile(lambda wall: wall < start, _iter_matches(self.line, start))


def parse(text: str) -> CronRule:
    fields = text.split()
    if len(fields) != 5:
        raise RecurrenceError(f"The cron line {text!r} has {len(fields)} fields, not five.")
    try:
        first = next(_iter_matches(text, _SEARCH_START), None)
    except CronSimError as error:
        raise _to_recurrence_error(fields, error) from error
    if first is None:
        raise _never_fires_error(text)
    return CronRule(" ".join(fields))


def _iter_matches(line: str, start: datetime) -> Iterator[datetime]:
    try:
        yield from CronSim(line, start - timedelta(seconds=1))  # it excludes its start
    except OverflowError:
        return


def _to_recurrence_error(fields: list[str], error: CronSimError) -> RecurrenceError:
    # cronsim reports 30 February as a bad day field, but only its combination with the month is
    # wrong.
    minute, hour, day, month, weekday = fields
    line = " ".join(fields)
    if all(_is_valid(f"{minute} {hour} {pair} {weekday}") for pair in (f"{day} *", f"* {month}")):
        return _never_fires_error(line)
    field = str(error).removeprefix("Bad ")
    return RecurrenceError(f"The cron line {line!r} has a {field} field that cannot be read.")


def _is_valid(line: str) -> bool:
    try:
        CronSim(line, _SEARCH_START)
    except CronSimError:
        return False
    return True


def _never_fires_error(line: str) -> RecurrenceError:
    return RecurrenceError(f"The cron line {line!r} never fires: no such day exists.")
