"""Rate limits within one process: calls per second in total, and an interval per key."""

from __future__ import annotations

from collections import deque
from datetime import datetime, timedelta
from threading import Lock

from duecourse.adapters.channels.errors import LocalRateLimitError
from duecourse.ports.runtime import Clock

MAX_KEYS = 1_000
_ONE_SECOND = timedelta(seconds=1)


class RateLimiter:
    """Delays calls by key. A key names what a platform counts together: a chat, channel or route.

    It does not know other processes' calls; the platform rejects those above its limit.
    """

    def __init__(
        self, clock: Clock, *, min_interval: timedelta = timedelta(0), max_per_second: int = 0
    ) -> None:
        """Set the limits. `max_per_second` 0 means no limit for all keys together."""
        self._clock = clock
        self._min_interval = min_interval
        self._recent: deque[datetime] = deque(maxlen=max_per_second)
        self._next_slots: dict[str, datetime] = {}
        self._global_next_slot: datetime | None = None
        self._lock = Lock()

    def acquire(self, key: str, *, deadline: datetime) -> None:
        """Wait for the next slot of `key`.

        Raises LocalRateLimitError at once if that slot is after `deadline`.
        """
        with self._lock:
            now = self._clock.now()
            turn = max(now, self._next_slots.get(key, now), self._next_global_slot(now))
            if turn > deadline:
                raise LocalRateLimitError(turn - now)
            self._next_slots[key] = turn + self._min_interval
            self._recent.append(turn)
            self._evict(now)
        self._clock.sleep_until(turn)

    def block(self, key: str, *, until: datetime) -> None:
        with self._lock:
            self._next_slots[key] = max(until, self._next_slots.get(key, until))

    def block_all(self, *, until: datetime) -> None:
        with self._lock:
            self._global_next_slot = max(until, self._global_next_slot or until)

    def _next_global_slot(self, now: datetime) -> datetime:
        free_at = self._global_next_slot or now
        is_full = self._recent and len(self._recent) == self._recent.maxlen
        return max(free_at, self._recent[0] + _ONE_SECOND) if is_full else free_at

    def _evict(self, now: datetime) -> None:
        """If there are too many keys, keep only those with the longest waits."""
        if len(self._next_slots) <= MAX_KEYS:
            return
        busy = {lane: at for lane, at in self._next_slots.items() if at > now}
        latest = sorted(busy, key=busy.__getitem__)[-MAX_KEYS // 2 :]
        self._next_slots = {lane: busy[lane] for lane in latest}
