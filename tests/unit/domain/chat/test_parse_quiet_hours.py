"""Parsing of quiet hours in chat."""

from __future__ import annotations

import pytest
from duecourse.domain.chat.parse_quiet_hours import QuietHoursClarificationError, parse_quiet_hours


@pytest.mark.parametrize(
    ("text", "hours"),
    [
        ("22:00-7:00", "22:00 07:00"),
        ("22:00 - 07:00", "22:00 07:00"),
        ("22:00–07:00", "22:00 07:00"),
        ("10pm to 7am", "22:00 07:00"),
        ("10pm-7", "22:00 07:00"),
        ("10 pm until 7 am", "22:00 07:00"),
        ("from 22 to 7", "22:00 07:00"),
        ("between 22:30 and 6:15", "22:30 06:15"),
        ("From 10:30PM till half past 6", "22:30 06:30"),
        ("22h-7h", "22:00 07:00"),
        ("20 to 8", "20:00 08:00"),
        ("midnight to 6", "00:00 06:00"),
        ("18:00 to midnight", "18:00 00:00"),
        ("18:00-24:00", "18:00 00:00"),
        ("12:00-14:00", "12:00 14:00"),
        ("9:00-17:00", "09:00 17:00"),
        ("noon-2pm", "12:00 14:00"),
    ],
)
def test_quiet_hours_are_parsed(text: str, hours: str) -> None:
    start, end = parse_quiet_hours(text)
    assert f"{start:%H:%M} {end:%H:%M}" == hours


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("10 to 7", "Do they start at 10:00 or 22:00?"),
        ("9-5", "Do they start at 09:00 or 21:00?"),
        ("22:00-22:00", "Start and end must differ"),
        ("0:00-24:00", "Start and end must differ"),
        ("midnight to midnight", "Start and end must differ"),
        ("always", "From when until when?"),
        ("22:00", "From when until when?"),
        ("22:00-", "From when until when?"),
        ("-", "From when until when?"),
        ("22:00-7:00 please", "From when until when?"),
        ("22:00-7:00 Europe/Berlin", "From when until when?"),
        ("25:00-7:00", "25:00 is not a time"),
        ("22:00-7:61", "7:61 is not a time"),
        ("22:00-13pm", "13pm is not a time"),
        ("x" * 5_000 + " to 7", "From when until when?"),
    ],
)
def test_unclear_quiet_hours_ask_for_clarification(text: str, question: str) -> None:
    with pytest.raises(QuietHoursClarificationError) as error:
        parse_quiet_hours(text)
    assert str(error.value).startswith(question)
