"""Texts for days and times in questions to the sender."""

from __future__ import annotations

from datetime import date, datetime, timedelta

from duecourse.domain.naturaltime.tokens import ClarificationNeededError

ASK_DATE = "Which day is that? Write its date. Example: on 17 february"


def format_day(day: date, today: date) -> str:
    near = {today: "today", today + timedelta(days=1): "tomorrow"}
    return near.get(day) or f"on {format_date(day)}"


def format_date(day: date) -> str:
    return f"{day:%A} {day.day} {day:%b} {day.year}"


def format_wall_time(wall_time: datetime, today: date) -> str:
    return f"{wall_time:%H:%M} {format_day(wall_time.date(), today)}"


def ambiguity_error(first: str, second: str) -> ClarificationNeededError:
    """Return a question between two readings. Both are written as the parser accepts them."""
    return ClarificationNeededError(
        f"Did you mean {first} or {second}? Send it again with one of them."
    )
