"""Text order is time order, for every instant."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

from duecourse.domain.time.instant import from_text, to_text, truncate_to_millisecond
from hypothesis import given, settings
from hypothesis import strategies as st

offsets = st.integers(-23 * 60, 23 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
# A day from either end of time, so that every offset can be taken away.
instants = st.datetimes(
    datetime.fromisoformat("0001-01-02"), datetime.fromisoformat("9999-12-30"), timezones=offsets
)
calm = settings(deadline=None)


@calm
@given(instant=instants)
def test_what_is_written_is_read_back(instant: datetime) -> None:
    assert from_text(to_text(instant)) == truncate_to_millisecond(instant)


@calm
@given(one=instants, other=instants)
def test_text_order_is_time_order(one: datetime, other: datetime) -> None:
    one, other = truncate_to_millisecond(one), truncate_to_millisecond(other)
    assert (to_text(one) < to_text(other)) == (one < other)


@calm
@given(one=instants, passed=st.integers(1, 100_000))
def test_neighbours_keep_their_order_too(one: datetime, passed: int) -> None:
    assert to_text(one) < to_text(one + timedelta(milliseconds=passed))


@calm
@given(instant=instants)
def test_all_instants_are_equally_wide(instant: datetime) -> None:
    assert len(to_text(instant)) == 24
