"""Loading time zones by name, and the wall-clock time of an instant."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo, available_timezones

import pytest
from duecourse.domain.time.timezones import UnknownTimezoneError, load_timezone, to_wall_time

NOT_TIMEZONES = {"localtime", "Factory"}


def parse(text: str) -> datetime:
    return datetime.fromisoformat(text)


def test_an_instant_can_have_any_timezone() -> None:
    assert to_wall_time(parse("2026-01-01T00:00+05:30"), ZoneInfo("UTC")) == parse(
        "2025-12-31T18:30"
    )


def test_a_naive_instant_is_rejected() -> None:
    with pytest.raises(ValueError, match="aware"):
        to_wall_time(parse("2026-01-01T00:00"), ZoneInfo("UTC"))


def test_every_timezone_of_the_database_loads() -> None:
    for name in available_timezones() - NOT_TIMEZONES:
        assert load_timezone(name).key == name


@pytest.mark.parametrize(
    "name",
    [
        "",
        " ",
        "Local",
        "localtime",
        "posix/Europe/Berlin",
        "right/Europe/Berlin",
        "posixrules",
        "Factory",
        "Europe",
        "Europe/",
        "/Europe/Berlin",
        "Europe/Berlin\n",
        "Europe//Berlin",
        "Europe/Atlantis",
        "../etc/passwd",
        "../../usr/share/zoneinfo/UTC",
        "/etc/localtime",
        "C:\\Windows",
        "zone.tab",
        "leapseconds",
        "UTC\0",
        "Zürich",
        "\udc80",
        "🕰",
        "A" * 100_000,
        "A/" * 50_000,
        "Europe/" + "B" * 300,
    ],
)
def test_any_other_name_is_an_unknown_timezone(name: str) -> None:
    with pytest.raises(UnknownTimezoneError) as caught:
        load_timezone(name)
    assert caught.value.name == name
    assert str(caught.value).startswith("There is no time zone named")
    assert len(str(caught.value)) < 500
