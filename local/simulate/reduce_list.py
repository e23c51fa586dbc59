"""Leave out of a list what is not needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def reduce_list(values: list[T], is_enough: Callable[[list[T]], bool]) -> list[T]:
    """Return the values without those that can be left out while the rest `is_enough`.

    All are left out first, then halves, quarters, … and each one, the last first. That is repeated
    until nothing more can be left out.
    """
    size = len(values)
    while size:
        end, before = len(values), len(values)
        while end > 0:
            rest = [*values[: max(0, end - size)], *values[end:]]
            if is_enough(rest):
                values = rest
            end -= size
        if size > 1 or len(values) == before:
            size //= 2
    return values
