"""Reducing lists and operations. `test_planted_bug` reduces a plan."""

from __future__ import annotations

from local.simulate.plan import Operation, Plan
from local.simulate.reduce_list import reduce_list
from local.simulate.simplify import list_simpler


def test_all_are_left_out_first_and_each_one_last() -> None:
    tried: list[list[int]] = []

    def note(rest: list[int]) -> bool:
        tried.append(rest)
        return False

    assert reduce_list([1, 2, 3, 4], note) == [1, 2, 3, 4]
    assert tried == [
        *([], [1, 2], [3, 4]),
        *([1, 2, 3], [1, 2, 4], [1, 3, 4], [2, 3, 4]),
    ]


def test_what_is_needed_is_left() -> None:
    tried: list[list[int]] = []

    def has_both(rest: list[int]) -> bool:
        tried.append(rest)
        return {17, 62} <= set(rest)

    assert reduce_list(list(range(100)), has_both) == [17, 62]
    assert len(tried) < 50


def test_one_that_is_needed_only_with_another_is_left_out_after_it() -> None:
    """4 needs 1: it can be left out once 1 is, which comes after it."""
    assert reduce_list([1, 4], lambda rest: 4 in rest or 1 not in rest) == []
    assert reduce_list([1, 4, 9], lambda rest: 9 in rest and (4 in rest or 1 not in rest)) == [9]


def test_nothing_can_be_left_out_of_nothing() -> None:
    assert reduce_list([], lambda _rest: True) == []


def test_operations_become_simpler_all_at_once_or_one_by_one() -> None:
    first = Operation(12.345, "create-reminder", {"new": 1, "in": "70s", "sender": "bob"})
    second = Operation(31.2, "cancel", {"task": 1})
    found = [one.operations for one in list_simpler(Plan(1, [first, second]))]

    assert [[one.at for one in operations] for operations in found[:6]] == [
        *([10, 30], [10, 31.2], [12.345, 30]),
        *([12, 31], [12, 31.2], [12.345, 31]),
    ]
    assert found[6][0].arguments == {"new": 1, "in": "5s", "sender": "bob"}
    assert found[6][1] == second


def test_a_simple_operation_has_no_simpler_one() -> None:
    simple = Operation(10, "create-reminder", {"new": 1, "in": "5s", "sender": "ada"})
    assert list(list_simpler(Plan(1, [simple]))) == []
