"""Parsing Retry-After values, and finding them in error texts."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from duecourse.domain.failures.retry_after import (
    MAX_RETRY_AFTER,
    find_retry_after,
    parse_retry_after,
)

AT = datetime(2026, 10, 21, 7, 27, tzinfo=UTC)
MAX_SECONDS = MAX_RETRY_AFTER.total_seconds()


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (7, 7),
        (0, 0),
        (1.5, 1.5),
        ("30", 30),
        (" 30.5 ", 30.5),
        ("90s", 90),
        ("1m30s", 90),
        ("1h 5m", 3_900),
        ("500ms", 0.5),
        ("2 minutes", 120),
        ("33.123456s", 33.123456),
        (timedelta(minutes=2), 120),
        (-1, 0),
        ("-1", 0),
        (timedelta(seconds=-5), 0),
        (MAX_SECONDS, MAX_SECONDS),
        (MAX_SECONDS + 1, MAX_SECONDS),
        ("99d", MAX_SECONDS),
        pytest.param(10**400, MAX_SECONDS, id="more than a float holds"),
    ],
)
def test_every_form_of_a_duration_is_parsed(value: Any, seconds: float) -> None:
    assert parse_retry_after(value) == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    "value",
    [None, True, False, "", " ", "soon", "nan", "inf", "-inf", "5 apples", "s", [], {}, b"5"],
)
def test_an_invalid_value_is_none(value: Any) -> None:
    assert parse_retry_after(value, at=AT) is None


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf"), "1" * 1_000_000])
def test_a_number_that_is_not_finite_is_none(value: Any) -> None:
    assert parse_retry_after(value) is None


@pytest.mark.parametrize(
    ("date", "seconds"),
    [
        ("Wed, 21 Oct 2026 07:28:00 GMT", 60),
        ("Wed, 21 Oct 2026 07:27:00 GMT", 0),
        ("Wed, 21 Oct 2026 07:26:59 GMT", 0),
        ("Thu, 21 Oct 2027 07:28:00 GMT", MAX_SECONDS),
    ],
)
def test_a_date_is_converted_to_a_duration(date: str, seconds: float) -> None:
    assert parse_retry_after(date, at=AT) == timedelta(seconds=seconds)


@pytest.mark.parametrize("at", [None, AT.replace(tzinfo=None)])
def test_a_date_without_the_current_time_is_none(at: datetime | None) -> None:
    assert parse_retry_after("Wed, 21 Oct 2026 07:28:00 GMT", at=at) is None


@pytest.mark.parametrize(
    "date", ["Wed, 99 Oct 2026 07:28:00 GMT", "Wed, 21 Oct 2026", "21.10.2026"]
)
def test_other_date_formats_are_none(date: str) -> None:
    assert parse_retry_after(date, at=AT) is None


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("HTTP/1.1 429\r\nRetry-After: 90\r\n", 90),
        ("retry_after: 120", 120),
        ('{"retry_after": 0.65, "global": false}', 0.65),
        (r"{\"retry_after\": 120}", 120),
        ("{'Retry-After': '90'}", 90),
        ('"retryDelay": "33s"', 33),
        ('"retryDelay": "33.123456s"', 33.123456),
        ("retry_delay {\n  seconds: 33\n}", 33),
        ("retry-after-ms: 1500", 1.5),
        ("retryAfterSeconds=7", 7),
        ("x-ratelimit-reset-after: 5", 5),
        ("Rate limit reached. Please try again in 1.5s. Visit us.", 1.5),
        ("Please try again in 6m0s.", 360),
        ("Please try again in 20ms.", 0.02),
        ("Please try again in 1h2m3s", 3_723),
        ("try again in 1 minute and 30 seconds", 90),
        ("Please retry in 12s", 12),
        ("retry after 20 seconds", 20),
        ("Too Many Requests: retry after 35", 35),
        ("Please retry your request after 5 minutes.", 300),
        ("Please wait 30 seconds before you go on", 30),
        ("try again in 90 days", MAX_SECONDS),
    ],
)
def test_a_duration_is_found_in_a_text(text: str, seconds: float) -> None:
    assert find_retry_after(text) == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "try again later",
        "try again in a few seconds",
        "try again in 5 months",
        "try again at 5 pm",
        "retry after 3 attempts",
        "retry after 12:30",
        "retry after 2026-10-21",
        "Retry-After: Wed, 21 Oct 2026 07:28:00 GMT",
        "Retry-After: 2026-10-21T07:28:00Z",
        "retry_after: 1763272315",
        "x-ratelimit-reset: 1763272315",
        "the limit resets at 12:30",
        "Retrying in 5s",
        "lock wait timeout exceeded after 50 seconds",
    ],
)
def test_other_texts_contain_no_duration(text: str) -> None:
    assert find_retry_after(text) is None


def test_the_last_duration_wins() -> None:
    text = "Please try again in 5s.\nPlease try again in 8s."
    assert find_retry_after(text) == timedelta(seconds=8)


def test_a_field_precedes_a_sentence() -> None:
    text = '{"retry_after": 7, "message": "try again in 5s"}'
    assert find_retry_after(text) == timedelta(seconds=7)


@pytest.mark.parametrize(
    "fragment", ["retry", "retry after ", "retry-after: 1s1", "try again in 1", "1s", "retry\\\"'"]
)
def test_a_long_text_is_parsed_quickly(fragment: str) -> None:
    text = "retry " + fragment * (16_000 // len(fragment))
    started = time.thread_time()
    find_retry_after(text)
    assert time.thread_time() - started < 0.1
