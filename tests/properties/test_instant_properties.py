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
property_settings = settings(deadline=None)


@property_settings
@given(instant=instants)
def test_a_formatted_instant_parses_back(instant: datetime) -> None:
    assert from_text(to_text(instant)) == truncate_to_millisecond(instant)


@property_settings
@given(first=instants, second=instants)
def test_text_order_is_time_order(first: datetime, second: datetime) -> None:
    first, second = truncate_to_millisecond(first), truncate_to_millisecond(second)
    assert (to_text(first) < to_text(second)) == (first < second)


@property_settings
@given(one=instants, passed=st.integers(1, 100_000))
def test_adjacent_instants_keep_their_order(one: datetime, passed: int) -> None:
    assert to_text(one) < to_text(one + timedelta(milliseconds=passed))


@property_settings
@given(instant=instants)
def test_all_instants_have_the_same_text_length(instant: datetime) -> None:
    assert len(to_text(instant)) == 24
