"""How the command line writes instants and durations."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from local.cli.client.times import TimeFormatter, format_milliseconds

NOW = datetime(2026, 2, 17, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("milliseconds", "expected"),
    [
        (0, "0 ms"),
        (999, "999 ms"),
        (1_500, "1.5 s"),
        (60_000, "1 min"),
        (297_375, "4 min 57 s"),
        (3_600_000, "1 h"),
        (11_520_000, "3 h 12 min"),
        (183_600_000, "2 d 3 h"),
        (None, ""),
        ("soon", "soon"),
    ],
)
def test_milliseconds_are_written_in_their_two_largest_units(
    milliseconds: Any, expected: str
) -> None:
    assert format_milliseconds(milliseconds) == expected


@pytest.mark.parametrize(
    ("offset", "expected"),
    [(1, "(just now)"), (0, "(just now)"), (-1, "(just now)"), (-30, "(30 s ago)")],
)
def test_the_past_is_never_in_the_future(offset: int, expected: str) -> None:
    """The server's Date header has whole seconds, so a new task may be created after it."""
    text = (NOW + timedelta(seconds=offset)).isoformat()
    assert TimeFormatter(NOW).format_past(text).endswith(expected)


def test_a_due_time_may_be_in_the_future() -> None:
    text = (NOW + timedelta(seconds=1)).isoformat()
    assert TimeFormatter(NOW).format_full(text).endswith("(in 1 s)")
