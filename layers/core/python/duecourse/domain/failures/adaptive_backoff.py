"""How long to wait before a retry, by what has worked: always one of the policy's own delays."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from duecourse.domain.failures.policy import Category
from duecourse.domain.tasks.adapted_delay import Adapted, Tries, seconds_of

_UNITS = (("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1))


TriesBySeconds = Mapping[int, Tries]


def adapted_delay(category: Category, retry_count: int, tries: TriesBySeconds) -> Adapted | None:
    """None where the policy's own delay stands.

    One that mostly fails gives way to the next longer one that is clearly better, or that nobody
    knows enough of. Else a shorter one that nearly always works will do.
    """
    if category.server_time_wins or category.until_budget_clears or not category.counts:
        return None
    own, delays = category.delay(retry_count), sorted(set(category.delays))
    known = _known(tries, own)
    if known.mostly_fail:
        return _longer(own, [delay for delay in delays if delay > own], tries)
    shorter = [delay for delay in delays if delay < own and _known(tries, delay).nearly_always_work]
    return _shorter(own, shorter[0], tries) if shorter else None


def _longer(own: timedelta, delays: list[timedelta], tries: TriesBySeconds) -> Adapted | None:
    known = _known(tries, own)
    failed = f"After {_spoken(own)} {known.worked} of {known.tried} retries worked"
    for delay in delays:
        found = _known(tries, delay)
        if not found.is_enough:
            because = f"{failed}; {_spoken(delay)} are tried, to find out."
        elif found.are_clearly_better(known):
            because = f"{failed}, after {_spoken(delay)} {found.worked} of {found.tried}."
        else:
            continue
        return Adapted(policy_delay=own, delay=delay, tries=found, because=because)
    return None


def _shorter(own: timedelta, delay: timedelta, tries: TriesBySeconds) -> Adapted:
    found = _known(tries, delay)
    because = f"After {_spoken(delay)} already, {found.worked} of {found.tried} retries worked."
    return Adapted(policy_delay=own, delay=delay, tries=found, because=because)


def _known(tries: TriesBySeconds, delay: timedelta) -> Tries:
    return tries.get(seconds_of(delay), Tries())


def _spoken(delay: timedelta) -> str:
    """30 seconds, 2 minutes: in the largest unit that it is a whole number of."""
    seconds = seconds_of(delay)
    for unit, size in _UNITS:
        if seconds % size == 0 and seconds >= size:
            return f"{seconds // size} {unit}{'' if seconds == size else 's'}"
    return "0 seconds"
