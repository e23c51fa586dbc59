"""Formatting of times, recurrence rules and quoted text."""

from __future__ import annotations

from datetime import datetime

import pytest
from duecourse.domain.text.describe_recurrence import describe_recurrence
from duecourse.domain.text.formatting import format_time, remove_unprintable, to_one_line
from duecourse.domain.time.recurrence import RecurrenceRule

from tests.support.builders.moments import parse_instant

FRIDAY_20 = datetime.fromisoformat("2026-11-20T08:30")


@pytest.mark.parametrize(
    ("instant", "zone", "text"),
    [
        ("2026-11-20T07:30:00Z", "Europe/Berlin", "Friday 20 Nov 2026, 08:30 (Europe/Berlin)"),
        ("2026-11-01T07:30:15Z", "UTC", "Sunday 1 Nov 2026, 07:30:15 (UTC)"),
        ("2026-11-20T20:00:00Z", "Asia/Tokyo", "Saturday 21 Nov 2026, 05:00 (Asia/Tokyo)"),
    ],
)
def test_a_time_is_formatted_in_a_timezone(instant: str, zone: str, text: str) -> None:
    assert format_time(parse_instant(instant), zone) == text


@pytest.mark.parametrize(
    ("rule", "description"),
    [
        ("daily", "every day"),
        ("Weekdays", "every weekday"),
        ("weekly", "every Friday"),
        ("monthly", "every month on the 20th"),
        ("FREQ=HOURLY;INTERVAL=2", "every 2 hours"),
        ("FREQ=MINUTELY;INTERVAL=30", "every 30 minutes"),
        ("RRULE:FREQ=DAILY;INTERVAL=3", "every 3 days"),
        ("FREQ=WEEKLY", "every week on Friday"),
        ("FREQ=WEEKLY;BYDAY=MO,TH", "every Monday and Thursday"),
        ("FREQ=WEEKLY;BYDAY=FR,MO,TU,WE,TH", "every weekday"),
        ("FREQ=WEEKLY;INTERVAL=2;BYDAY=FR", "every other Friday"),
        ("FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,FR", "every other week on Monday and Friday"),
        ("freq=weekly;interval=3;byday=SA", "every 3 weeks on Saturday"),
        ("FREQ=MONTHLY", "every month on the 20th"),
        ("FREQ=MONTHLY;BYMONTHDAY=-1", "every month on the last day"),
        ("FREQ=MONTHLY;BYMONTHDAY=1,15", "every month on the 1st and 15th"),
        ("FREQ=MONTHLY;INTERVAL=3;BYMONTHDAY=22", "every 3 months on the 22nd"),
        ("FREQ=MONTHLY;BYDAY=2TU", "every month on the 2nd Tuesday"),
        ("FREQ=MONTHLY;BYDAY=-1FR", "every month on the last Friday"),
        ("FREQ=YEARLY", "every year on 20 November"),
        ("0 9 * * 1", "cron 0 9 * * 1"),
        ("FREQ=DAILY;COUNT=3", "RRULE FREQ=DAILY;COUNT=3"),
        ("FREQ=MONTHLY;BYMONTHDAY=-2", "RRULE FREQ=MONTHLY;BYMONTHDAY=-2"),
        ("FREQ=MONTHLY;BYDAY=MO,TU", "RRULE FREQ=MONTHLY;BYDAY=MO,TU"),
        ("FREQ=YEARLY;BYDAY=MO", "RRULE FREQ=YEARLY;BYDAY=MO"),
    ],
)
def test_a_rule_is_described_in_words_if_possible(rule: str, description: str) -> None:
    RecurrenceRule.parse(rule)  # the rule is valid
    assert describe_recurrence(rule, FRIDAY_20) == description


@pytest.mark.parametrize(
    ("day", "ordinal"),
    [(1, "1st"), (2, "2nd"), (3, "3rd"), (11, "11th"), (13, "13th"), (21, "21st"), (28, "28th")],
)
def test_days_of_the_month_are_ordinals(day: int, ordinal: str) -> None:
    assert (
        describe_recurrence("monthly", FRIDAY_20.replace(day=day))
        == f"every month on the {ordinal}"
    )


def test_a_day_that_some_months_lack_is_described_with_the_last_day() -> None:
    anchor = FRIDAY_20.replace(month=10, day=31)
    assert (
        describe_recurrence("monthly", anchor)
        == "every month on the 31st, or the last day of shorter months"
    )


def test_unprintable_characters_are_removed() -> None:
    assert remove_unprintable("a\x00b\x1bc\ud800d\x85e\tf\ng\u200f") == "abcde\tf\ng\u200f"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (" two\n\nlines\t here ", "two lines here"),
        ("12345678901", "1234567890 …"),
        ("1234567890", "1234567890"),
        ("123456789 1", "123456789 …"),
        ("a\u202eb\u2066c\ud800", "abc"),
        ("שלום\u200f", "שלום\u200f"),
    ],
)
def test_a_quoted_text_is_one_line_with_an_ellipsis_if_truncated(text: str, expected: str) -> None:
    assert to_one_line(text, 20 if "two" in text else 10) == expected
