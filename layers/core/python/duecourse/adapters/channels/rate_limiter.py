"""How fast one process speaks: so many a second in all, each place with a rest between."""

from __future__ import annotations

from collections import deque
from datetime import datetime, timedelta
from threading import Lock

from duecourse.adapters.channels.errors import TooSoonError
from duecourse.ports.runtime import Clock

MOST_LANES = 1_000
_SECOND = timedelta(seconds=1)


class Pace:
    """A lane is what a platform counts together: a chat, a channel, a route.

    Other processes have a pace of their own: what they are too many for, the platform says.
    """

    def __init__(
        self, clock: Clock, *, rest: timedelta = timedelta(0), most_a_second: int = 0
    ) -> None:
        """0 a second means that there is no limit for all lanes together."""
        self._clock = clock
        self._rest = rest
        self._latest: deque[datetime] = deque(maxlen=most_a_second)
        self._free_at: dict[str, datetime] = {}
        self._all_free_at: datetime | None = None
        self._lock = Lock()

    def take_turn(self, lane: str, *, by: datetime) -> None:
        """Wait for it. Raises TooSoonError, at once, where it comes only after `by`."""
        with self._lock:
            now = self._clock.now()
            turn = max(now, self._free_at.get(lane, now), self._all_free(now))
            if turn > by:
                raise TooSoonError(turn - now)
            self._free_at[lane] = turn + self._rest
            self._latest.append(turn)
            self._forget(now)
        self._clock.sleep_until(turn)

    def hold(self, lane: str, *, until: datetime) -> None:
        with self._lock:
            self._free_at[lane] = max(until, self._free_at.get(lane, until))

    def hold_all(self, *, until: datetime) -> None:
        with self._lock:
            self._all_free_at = max(until, self._all_free_at or until)

    def _all_free(self, now: datetime) -> datetime:
        free_at = self._all_free_at or now
        is_full = self._latest and len(self._latest) == self._latest.maxlen
        return max(free_at, self._latest[0] + _SECOND) if is_full else free_at

    def _forget(self, now: datetime) -> None:
        """Of very many lanes, those with the longest wait are remembered."""
        if len(self._free_at) <= MOST_LANES:
            return
        busy = {lane: at for lane, at in self._free_at.items() if at > now}
        kept = sorted(busy, key=busy.__getitem__)[-MOST_LANES // 2 :]
        self._free_at = {lane: busy[lane] for lane in kept}
