"""Lateness of runs as a histogram with three buckets per doubling of the time.

A percentile read from it is never below the true one, and above it by less than 26 %.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil

BUCKETS_PER_DOUBLING = 3
_DOUBLINGS = 32  # up to 49 days; anything later is reported as the largest value seen
# The last whole millisecond of each bucket. The first bucket holds the runs on time.
BUCKET_BOUNDS_MS = (
    0,
    *sorted({int(2 ** (n / BUCKETS_PER_DOUBLING)) for n in range(3 * _DOUBLINGS + 1)}),
)
# The bars of a chart: on time, then one for every doubling from 32 ms to 70 minutes, then the rest.
BAR_BOUNDS_MS = (0, *(2**n for n in range(5, 23)))


@dataclass(frozen=True, slots=True)
class HistogramBar:
    """The number of runs later than the bar before and by at most `up_to_ms`; None: no limit."""

    up_to_ms: int | None
    count: int


def bucket_of(late_ms: int) -> int:
    return bisect_left(BUCKET_BOUNDS_MS, late_ms)


def percentile(buckets: Mapping[int, int], percent: int, *, max_value: int) -> int | None:
    """Return the lateness that `percent` of the runs did not exceed, or None without runs.

    `max_value` is the largest lateness seen; it caps the result and stands for the last bucket.
    """
    rank = ceil(sum(buckets.values()) * percent / 100)
    seen = 0
    for bucket, count in sorted(buckets.items()):
        seen += count
        if count and seen >= rank:
            return (
                min(BUCKET_BOUNDS_MS[bucket], max_value)
                if bucket < len(BUCKET_BOUNDS_MS)
                else max_value
            )
    return None


def to_bars(buckets: Mapping[int, int]) -> list[HistogramBar]:
    """Return the chart's bars. Their bounds are fixed, so that two days can be compared."""
    counts = [0] * (len(BAR_BOUNDS_MS) + 1)
    for bucket, count in buckets.items():
        last_ms = (
            BUCKET_BOUNDS_MS[bucket] if bucket < len(BUCKET_BOUNDS_MS) else BUCKET_BOUNDS_MS[-1] + 1
        )
        counts[bisect_left(BAR_BOUNDS_MS, last_ms)] += count
    return [
        HistogramBar(up_to, count)
        for up_to, count in zip([*BAR_BOUNDS_MS, None], counts, strict=True)
    ]
