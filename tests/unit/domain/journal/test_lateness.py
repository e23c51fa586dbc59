"""How late runs were, as the bars of a chart."""

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


def shown(*late_ms: int) -> list[HistogramBar]:
    """Those that are not empty."""
    return [bar for bar in to_bars(Counter(map(bucket_of, late_ms))) if bar.count]


def test_there_are_few_enough_to_read() -> None:
    assert len(to_bars({})) == 20
    assert [bar.up_to_ms for bar in to_bars({})] == [*BAR_BOUNDS_MS, None]
    assert to_bars({})[-2].up_to_ms == pytest.approx(70 * MINUTE, rel=0.01)


def test_no_bucket_is_cut_by_a_bar() -> None:
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
def test_a_run_is_in_the_bar_that_it_was_no_later_than(late_ms: int, up_to_ms: int | None) -> None:
    assert shown(late_ms) == [HistogramBar(up_to_ms, 1)]


def test_every_run_is_in_one_bar() -> None:
    late = [*range(0, 5_000, 7), *range(0, 60 * DAY, 7 * HOUR)]
    assert sum(bar.count for bar in shown(*late)) == len(late)
