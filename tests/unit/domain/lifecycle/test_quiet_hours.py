"""Quiet hours: deferral across midnight and DST changes, and their stored text."""

from __future__ import annotations

from datetime import timedelta

import pytest
from duecourse.domain.lifecycle.quiet_hours import QuietHours

from tests.support.builders.moments import HOUR, MILLISECOND, parse_instant


def parse_hours(text: str) -> QuietHours:
    return QuietHours.from_text(text)


NIGHT = parse_hours("22:00 07:00 Europe/Berlin")
NOON = parse_hours("12:00 14:00 UTC")


@pytest.mark.parametrize(
    ("hours", "instant", "until"),
    [
        (NIGHT, "2026-02-17T20:59:59.999Z", None),
        (NIGHT, "2026-02-17T21:00:00Z", "2026-02-18T06:00:00Z"),
        (NIGHT, "2026-02-17T23:30:00Z", "2026-02-18T06:00:00Z"),
        (NIGHT, "2026-02-18T05:59:59.999Z", "2026-02-18T06:00:00Z"),
        (NIGHT, "2026-02-18T06:00:00Z", None),
        (NOON, "2026-02-17T11:59:00Z", None),
        (NOON, "2026-02-17T12:00:00Z", "2026-02-17T14:00:00Z"),
        (NOON, "2026-02-17T14:00:00Z", None),
        (parse_hours("00:00 06:00 UTC"), "2026-02-17T00:00:00Z", "2026-02-17T06:00:00Z"),
        (parse_hours("18:00 00:00 UTC"), "2026-02-17T23:59:00Z", "2026-02-18T00:00:00Z"),
        (parse_hours("18:00 00:00 UTC"), "2026-02-18T00:00:00Z", None),
    ],
)
def test_quiet_hours_defer_until_their_end(
    hours: QuietHours, instant: str, until: str | None
) -> None:
    expected = None if until is None else parse_instant(until)
    assert hours.deferred_until(parse_instant(instant), requested_at=None) == expected


@pytest.mark.parametrize(
    ("hours", "instant", "until"),
    [
        # Berlin: 02:00 to 03:00 is skipped on 29 March, and repeated on 25 October.
        (NIGHT, "2026-03-29T00:30:00Z", "2026-03-29T05:00:00Z"),
        (NIGHT, "2026-10-25T00:30:00Z", "2026-10-25T06:00:00Z"),
        (parse_hours("22:00 02:30 Europe/Berlin"), "2026-03-28T22:00:00Z", "2026-03-29T01:00:00Z"),
        (parse_hours("22:00 02:30 Europe/Berlin"), "2026-10-25T00:00:00Z", "2026-10-25T00:30:00Z"),
        (parse_hours("22:00 02:30 Europe/Berlin"), "2026-10-25T01:15:00Z", None),
        (parse_hours("02:30 07:00 Europe/Berlin"), "2026-10-25T01:15:00Z", "2026-10-25T06:00:00Z"),
        (parse_hours("02:10 02:50 Europe/Berlin"), "2026-03-29T01:00:00Z", None),
        # New York: the same on 8 March and 1 November.
        (
            parse_hours("23:00 06:00 America/New_York"),
            "2026-03-08T06:30:00Z",
            "2026-03-08T10:00:00Z",
        ),
        (
            parse_hours("23:00 06:00 America/New_York"),
            "2026-11-01T06:30:00Z",
            "2026-11-01T11:00:00Z",
        ),
    ],
)
def test_quiet_hours_follow_wall_clock_time_across_dst_changes(
    hours: QuietHours, instant: str, until: str | None
) -> None:
    expected = None if until is None else parse_instant(until)
    assert hours.deferred_until(parse_instant(instant), requested_at=None) == expected


@pytest.mark.parametrize(
    ("requested_at", "is_delivered"),
    [
        ("2026-02-17T20:59:59.999Z", False),
        ("2026-02-17T21:00:00Z", True),
        ("2026-02-17T22:00:00Z", True),
        ("2026-02-16T22:00:00Z", False),
    ],
)
def test_a_reminder_requested_within_the_same_quiet_hours_is_not_deferred(
    requested_at: str, is_delivered: bool
) -> None:
    deferred_until = NIGHT.deferred_until(
        parse_instant("2026-02-17T23:00:00Z"), requested_at=parse_instant(requested_at)
    )
    assert (deferred_until is None) is is_delivered


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe"])
def test_a_deferral_never_ends_inside_quiet_hours(zone: str) -> None:
    """Check every hour of a year: no deferral exceeds the period or ends inside another one."""
    hours, instant = parse_hours(f"21:15 06:45 {zone}"), parse_instant("2026-01-01T00:00:00Z")
    for _ in range(366 * 24):
        until = hours.deferred_until(instant, requested_at=None)
        if until is not None:
            assert instant < until <= instant + timedelta(hours=10, minutes=30)
            assert hours.period_at(until) is None
            assert hours.period_at(until - MILLISECOND) is not None
        instant += HOUR


def test_quiet_hours_round_trip_through_text() -> None:
    assert parse_hours(NIGHT.to_text()) == NIGHT
    assert NIGHT.description == "from 22:00 to 07:00 (Europe/Berlin)"


@pytest.mark.parametrize(
    "text", ["", "22:00", "22:00 07:00 Nowhere/Else", "22:00 22:00 UTC", "25:00 07:00 UTC"]
)
def test_invalid_quiet_hours_are_rejected(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        parse_hours(text)
