from __future__ import annotations

from local.simulate.shrink import _leave_out


def test_all_are_left_out_first_and_each_one_last() -> None:
    assert list(_leave_out([1, 2, 3, 4])) == [
        *([], [1, 2], [3, 4]),
        *([1, 2, 3], [1, 2, 4], [1, 3, 4], [2, 3, 4]),
    ]


def test_nothing_can_be_left_out_of_nothing() -> None:
    assert list(_leave_out([])) == []
