"""The lateness of runs as histogram bars."""

from __future__ import annotations

from collections import Counter

import pytest
from duecourse.domain.journal.lateness import (
    BAR_BOUNDS_MS,
    BUCKET_BOUNDS_MS,
    HistogramBar,
    bucket_of,
    to_bars,
)

MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000


def filled_bars(*late_ms: int) -> list[HistogramBar]:
    """Return the bars that are not empty."""
    return [bar for bar in to_bars(Counter(map(bucket_of, late_ms))) if bar.count]


def test_the_histogram_has_twenty_bars() -> None:
    assert len(to_bars({})) == 20
    assert [bar.up_to_ms for bar in to_bars({})] == [*BAR_BOUNDS_MS, None]
    assert to_bars({})[-2].up_to_ms == pytest.approx(70 * MINUTE, rel=0.01)


def test_no_bar_splits_a_bucket() -> None:
    assert set(BAR_BOUNDS_MS) <= set(BUCKET_BOUNDS_MS)


@pytest.mark.parametrize(
    ("late_ms", "up_to_ms"),
    [
        (0, 0),
        (1, 32),
        (32, 32),
        (33, 64),
        (1_000, 1_024),
        (1_025, 2_048),
        (MINUTE, 65_536),
        (HOUR, 4_194_304),
        (4_194_305, None),
        (DAY, None),
        (400 * DAY, None),
    ],
)
def test_a_run_is_in_the_first_bar_whose_bound_it_does_not_exceed(
    late_ms: int, up_to_ms: int | None
) -> None:
    assert filled_bars(late_ms) == [HistogramBar(up_to_ms, 1)]


def test_every_run_is_in_exactly_one_bar() -> None:
    lateness_values = [*range(0, 5_000, 7), *range(0, 60 * DAY, 7 * HOUR)]
    assert sum(bar.count for bar in filled_bars(*lateness_values)) == len(lateness_values)
