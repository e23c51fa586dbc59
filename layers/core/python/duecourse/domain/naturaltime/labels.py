"""How days and times are named in what is asked back."""

from __future__ import annotations

from datetime import date, datetime, timedelta

from duecourse.domain.naturaltime.tokens import AskBackError


def say_day(day: date, today: date) -> str:
    near = {today: "today", today + timedelta(days=1): "tomorrow"}
    return near.get(day) or f"on {say_date(day)}"


def say_date(day: date) -> str:
    return f"{day:%A} {day.day} {day:%b} {day.year}"


def say_wall(wall: datetime, today: date) -> str:
    return f"{wall:%H:%M} {say_day(wall.date(), today)}"


def which(first: str, second: str) -> AskBackError:
    return AskBackError(f"Did you mean {first} or {second}?")
