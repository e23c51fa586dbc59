"""Increments of counters: merged in any order, taken back, and stored shortly."""

from __future__ import annotations

import json

from duecourse.domain.journal.increment import (
    Increment,
    increments_from_stored,
    increments_to_stored,
    merge_increments,
)


def test_increments_of_one_counter_are_merged() -> None:
    first = Increment("d", "c", {"a": 1}, {"max": 3}, {"f": "2"}, {"l": "2"})
    second = Increment("d", "c", {"a": 2, "b": 1}, {"max": 2}, {"f": "1"}, {"l": "3"})
    assert merge_increments([first, second]) == [
        Increment("d", "c", {"a": 3, "b": 1}, {"max": 3}, {"f": "1"}, {"l": "3"})
    ]


def test_other_counters_and_days_stay_apart() -> None:
    increments = [Increment("d", "c", {"a": 1}), Increment("e", "c", {"a": 1})]
    assert merge_increments([*increments, Increment("d", "x", {"a": 1})]) == [
        *increments,
        Increment("d", "x", {"a": 1}),
    ]


def test_a_negated_increment_takes_the_sums_back() -> None:
    one = Increment("d", "c", {"a": 2}, {"max": 3}, {"f": "2"}, {"l": "2"})
    assert one.negate() == Increment("d", "c", {"a": -2})
    assert merge_increments([one, one.negate()]) == [
        Increment("d", "c", {}, {"max": 3}, {"f": "2"}, {"l": "2"})
    ]


def test_a_sum_below_zero_is_kept() -> None:
    """What it takes back may be in another page."""
    taken_back = Increment("d", "c", {"a": 2}).negate()
    assert merge_increments([taken_back]) == [taken_back]


def test_stored_increments_have_no_empty_parts_at_the_end() -> None:
    stored = increments_to_stored(
        [
            Increment("d", "c", {"a": 1}),
            Increment("d", "c", {"a": 1}),
            Increment("d", "m", {"a": 1}, {"max": 3}),
            Increment("e", "c", {"a": 1}, latest={"l": "2"}),
        ]
    )
    assert stored == {
        "d": {"c": [{"a": 2}], "m": [{"a": 1}, {"max": 3}]},
        "e": {"c": [{"a": 1}, {}, {}, {"l": "2"}]},
    }


def test_stored_increments_are_read_unchanged() -> None:
    increments = [
        Increment("d", "c", {"a": 3, "b": -1}, {"max": 3}, {"f": "1"}, {"l": "3"}),
        Increment("e", "c", latest={"l": "3"}),
        Increment("e", "x"),
    ]
    stored = json.loads(json.dumps(increments_to_stored(increments)))
    assert increments_from_stored(stored) == increments
