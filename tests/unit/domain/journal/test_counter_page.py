"""Pages of counters: a change counts once, also if it comes again in another batch."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

from duecourse.domain.journal.counter_page import (
    NO_PAGE,
    CountedChange,
    CounterPage,
    PageKey,
    group_by_page,
)
from duecourse.domain.journal.increment import Increment

from tests.support.builders.moments import HOUR, MINUTE, NOW


def one_error(n: int = 1) -> Increment:
    return Increment("2026-02-17", "category#timeout", {"errors": n})


def a_change(number: int, *, at: datetime = NOW, errors: int = 1) -> CountedChange:
    return CountedChange(number, at, [one_error(errors)] if errors else [])


def changes(*numbers: int) -> list[CountedChange]:
    return [a_change(number) for number in numbers]


# One page


def test_the_first_page_has_the_number_one() -> None:
    assert NO_PAGE.add(changes(5, 7)) == CounterPage(
        number=1, last_sequence_number=7, increments=[one_error(2)]
    )


def test_a_page_counts_only_what_comes_after_its_last_change() -> None:
    page = CounterPage(number=1, last_sequence_number=7, increments=[one_error(2)])
    assert page.add(changes(5, 6, 7, 8)) == CounterPage(
        number=1, last_sequence_number=8, increments=[one_error(3)]
    )


def test_a_page_that_counted_all_changes_is_not_stored_again() -> None:
    page = CounterPage(number=1, last_sequence_number=7, increments=[one_error(2)])
    assert page.add(changes(5, 7)) is None
    assert page.add([]) is None


def test_a_sequence_number_of_zero_counts() -> None:
    first = NO_PAGE.add(changes(0))
    assert first is not None
    assert first.last_sequence_number == 0


def test_the_page_after_a_full_one_counts_only_later_changes() -> None:
    full = CounterPage(number=3, last_sequence_number=7, increments=[one_error(9)]).mark_full()
    assert full.is_full
    assert full.add(changes(6, 7)) is None
    assert full.add(changes(7, 8)) == CounterPage(
        number=4, last_sequence_number=8, increments=[one_error()]
    )


# Choosing the page


def test_changes_are_grouped_by_the_hour_in_which_they_were_written() -> None:
    early, late = a_change(1, at=NOW - MINUTE), a_change(2, at=NOW + 59 * MINUTE)
    assert list(group_by_page("s", [early, late])) == [
        (PageKey(NOW - HOUR, "s"), [early]),
        (PageKey(NOW, "s"), [late]),
    ]


def test_the_hour_of_a_page_is_in_utc() -> None:
    change = a_change(1, at=NOW.astimezone(timezone(timedelta(hours=5, minutes=30))))
    assert [key for key, _ in group_by_page("s", [change])] == [PageKey(NOW, "s")]


def test_changes_are_added_in_their_order_in_the_stream() -> None:
    [(_, group)] = group_by_page("s", changes(9, 10, 2))
    assert [change.sequence_number for change in group] == [2, 9, 10]


def test_changes_that_count_nothing_need_no_page() -> None:
    assert list(group_by_page("s", [a_change(1, errors=0)])) == []
