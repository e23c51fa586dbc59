"""Find the next tick of a schedule that would do anything, so that a jump can skip the others.

A year has half a million ticks, and nearly all of them do nothing. Whether a tick does anything is
not decided here: the function itself runs at that time, without being able to change anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta

from local.runtime.dry_run import DryRun

# Without a write, error rates change for two hours at most.
MAX_RATE_CHANGE = timedelta(hours=2)
_Search = Callable[["TickFinder", datetime, int], int | None]


class TickFinder:
    """The ticks of one function.

    `guess` returns near which time the next effect may be; a wrong guess only costs time.
    `count_changes` returns how often stored data was changed.
    """

    def __init__(
        self,
        function: str,
        period: timedelta,
        run_dry: Callable[[datetime], DryRun],
        guess: Callable[[], datetime | None],
        count_changes: Callable[[], int],
    ) -> None:
        self._search = _SEARCHES.get(function, TickFinder._take_first)
        self._period = period
        self._run_dry = run_dry
        self._guess = guess
        self._count_changes = count_changes
        self._changes = -1
        self._idle_until: datetime | None = None
        self._found: datetime | None = None
        self._last_found: datetime | None = None
        self._gap = timedelta(0)
        self._lead = timedelta(0)

    def first_needed(self, first: datetime, until: datetime) -> datetime | None:
        """Return the first tick with an effect from the tick `first` to `until`, or None."""
        if not self._is_answered(first, until):
            self._changes = self._count_changes()
            count = (until - first) // self._period + 1
            index = self._search(self, first, count) if count > 0 else None
            self._found = None if index is None else first + index * self._period
            self._idle_until = until if self._found is None else self._found - self._period
        return self._found

    def is_idle(self, tick: datetime, now: datetime) -> bool:
        """Return whether the tick, which is due `now` or was due just before, can be skipped."""
        if self._idle_until is None or tick > self._idle_until:
            return False
        if self._changes == self._count_changes() or tick < now:
            return True
        return not self._run_dry(now).has_effect

    def _is_answered(self, first: datetime, until: datetime) -> bool:
        if self._changes != self._count_changes() or self._idle_until is None:
            return False
        if self._found is not None:
            return first <= self._found <= until
        return until <= self._idle_until

    def _take_first(self, _first: datetime, _count: int) -> int | None:
        return 0

    def _search_lasting(self, first: datetime, count: int) -> int | None:
        """Search ticks whose effect, once present, lasts until stored data changes.

        So a tick without an effect proves that those before it have none.
        """
        low, high = -1, count
        expected = self._guess() if count > 1 else None
        for moment in self._guess_effects(expected):
            near = min((moment - first) // self._period, count - 1)
            for guess in (near, near - 1, near + 1):
                low, high = self._narrow(first, guess, low, high)
        low, high = self._narrow(first, count - 1, low, high)
        while high - low > 1:
            low, high = self._narrow(first, (low + high) // 2, low, high)
        if high == count:
            return None
        self._learn(first + high * self._period, expected)
        return high

    def _guess_effects(self, expected: datetime | None) -> Iterator[datetime]:
        """Return times of a probable effect: as long after `expected`, or the last, as before."""
        if expected is not None:
            yield expected + self._lead
        if self._last_found is not None and self._gap:
            yield self._last_found + self._gap

    def _learn(self, tick: datetime, expected: datetime | None) -> None:
        if expected is not None:
            self._lead = tick - expected
        if self._last_found is not None and tick != self._last_found:
            self._gap = tick - self._last_found
        self._last_found = tick

    def _narrow(self, first: datetime, index: int, low: int, high: int) -> tuple[int, int]:
        """Dry-run one tick. Return the last one without an effect and the first one with one."""
        if not low < index < high:
            return low, high
        has_effect = self._run_dry(first + index * self._period).has_effect
        return (low, index) if has_effect else (index, high)

    def _search_fading(self, first: datetime, count: int) -> int | None:
        """Search ticks of the alerts, one by one: an alert can start and stop without a write.

        What the function measures as zero stays zero, and after MAX_RATE_CHANGE nothing new is
        raised: the local stack's own tokens never expire.
        """
        for index in range(count):
            run = self._run_dry(first + index * self._period)
            if run.reply is None:
                return index
            is_quiet = not run.reply["raised"] and index * self._period >= MAX_RATE_CHANGE
            if is_quiet or not any(map(any, run.metrics.values())):
                return None
        return None


_SEARCHES: dict[str, _Search] = {
    "ScannerFunction": TickFinder._search_lasting,
    "SweeperFunction": TickFinder._search_lasting,
    "AlertsFunction": TickFinder._search_fading,
}
