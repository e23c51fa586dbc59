"""The limits of each sender in chat."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from duecourse.domain.chat.limits import ChatLimits, LimitReachedError

from tests.support.builders.tasks import a_task

ANCHOR = datetime(2026, 3, 28, 23, 10)  # noqa: DTZ001 - a wall-clock time
LIMITS = ChatLimits(open_tasks=3, open_series=1, min_interval=timedelta(minutes=15))
ONE_SHOT, SERIES = a_task(), a_task(repeat="daily")


@pytest.mark.parametrize(
    ("open_tasks", "is_series"),
    [([], True), ([ONE_SHOT] * 2, True), ([SERIES, ONE_SHOT], False)],
)
def test_below_the_limits_there_is_room(open_tasks: list[object], is_series: bool) -> None:
    LIMITS.check_room(open_tasks, is_series=is_series)  # type: ignore[arg-type]


def test_the_reply_names_the_limit_of_tasks_and_how_to_make_room() -> None:
    with pytest.raises(LimitReachedError, match=r"3 open tasks\. Cancel one .* /cancel <id>"):
        LIMITS.check_room([ONE_SHOT] * 3, is_series=False)


def test_the_reply_names_the_limit_of_series_and_how_to_make_room() -> None:
    with pytest.raises(LimitReachedError, match=r"1 repeating tasks\. Cancel one .* /cancel <id>"):
        LIMITS.check_room([SERIES], is_series=True)


@pytest.mark.parametrize(
    "repeat",
    ["daily", "weekdays", "FREQ=MINUTELY;INTERVAL=15", "FREQ=HOURLY", "*/15 * * * *", "monthly"],
)
def test_an_interval_of_at_least_the_limit_is_accepted(repeat: str) -> None:
    LIMITS.check_interval(repeat, ANCHOR)


@pytest.mark.parametrize(
    "repeat",
    [
        "FREQ=MINUTELY",
        "FREQ=MINUTELY;INTERVAL=14",
        "* * * * *",
        "0,10 9 * * *",  # twice a day, ten minutes apart
        "FREQ=DAILY;BYHOUR=9,12;BYMINUTE=0,5",
    ],
)
def test_a_shorter_interval_is_refused(repeat: str) -> None:
    with pytest.raises(LimitReachedError, match="every 15 minutes"):
        LIMITS.check_interval(repeat, ANCHOR)


def test_a_series_that_comes_once_has_no_interval() -> None:
    LIMITS.check_interval("FREQ=MINUTELY;COUNT=1", ANCHOR)
