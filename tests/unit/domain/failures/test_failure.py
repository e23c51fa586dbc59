"""Failure: its evidence from exceptions and JSON, its limits, and its redaction."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from duecourse.domain.failures.failure import (
    MESSAGE_LIMIT,
    NAME_LIMIT,
    SUMMARY_LIMIT,
    TRACEBACK_LIMIT,
    Failure,
)
from duecourse.domain.failures.retry_after import MAX_RETRY_AFTER
from hypothesis import example, given
from hypothesis import strategies as st

from tests.support.builders.moments import DAY

SECRETS = [
    "token=hunter22",
    '{"password": "hunter22"}',
    "Authorization: Bearer hunter22",
    "https://ada:hunter22@x.test/",
    "Incorrect API key provided: sk-proj-hunter22.",
]
scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
json_values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)
NAMES = ("message", "type", "code", "status", "retry_after", "phase", "traceback", "at")
stored_failures = st.fixed_dictionaries({}, optional=dict.fromkeys(NAMES, json_values))


class AnnotatedError(Exception):
    """An exception with evidence in its attributes."""

    def __init__(self, message: str, **attributes: Any) -> None:
        super().__init__(message)
        for name, value in attributes.items():
            setattr(self, name, value)


def raise_and_catch(error: Exception) -> Exception:
    """Raise the error and return it with its traceback."""
    try:
        raise error
    except type(error) as caught:
        return caught


# From an exception


def test_a_failure_names_its_exception() -> None:
    failure = Failure.from_exception(ValueError("no route"))
    assert (failure.message, failure.type) == ("ValueError: no route", "ValueError")


def test_a_failure_from_an_exception_is_redacted() -> None:
    failure = Failure.from_exception(ValueError("token=hunter22"))
    assert failure.message == "ValueError: token=[redacted]"


def test_a_failure_reads_the_attributes_of_its_exception() -> None:
    attributes = {"type": "RateLimitError", "code": "slow_down", "status": 429, "retry_after": 7}
    failure = Failure.from_exception(AnnotatedError("wait", **attributes), phase="mutating")
    evidence = (failure.message, failure.type, failure.code, failure.status, failure.phase)
    assert evidence == ("wait", "RateLimitError", "slow_down", 429, "mutating")
    assert failure.retry_after == timedelta(seconds=7)


def test_an_exception_whose_type_is_none_has_no_type() -> None:
    failure = Failure.from_exception(AnnotatedError("the provider's own words", type=None))
    assert (failure.message, failure.type) == ("the provider's own words", None)


def test_a_failure_keeps_where_its_exception_was_raised() -> None:
    failure = Failure.from_exception(raise_and_catch(ValueError("no route")))
    assert "test_failure.py" in (failure.traceback or "")


def test_the_end_of_a_long_traceback_is_kept() -> None:
    failure = Failure.from_exception(raise_and_catch(ValueError("x " * 20_000 + "the end")))
    traceback = failure.traceback or ""
    assert len(traceback) <= TRACEBACK_LIMIT
    assert traceback.rstrip().endswith("the end")


def test_an_exception_with_its_own_type_has_no_traceback() -> None:
    error = raise_and_catch(AnnotatedError("the provider's own words", type="RateLimitError"))
    assert Failure.from_exception(error).traceback is None


@pytest.mark.parametrize("secret", SECRETS)
def test_an_exception_with_its_own_type_is_redacted(secret: str) -> None:
    data = Failure.from_exception(AnnotatedError(secret, type=secret, code=secret)).to_json()
    assert "hunter22" not in json.dumps(data)


@pytest.mark.parametrize("secret", SECRETS)
def test_every_field_from_an_exception_is_redacted(secret: str) -> None:
    error = raise_and_catch(AnnotatedError(secret, code=secret))
    data = Failure.from_exception(error, phase=secret).to_json()
    assert "hunter22" not in json.dumps(data)


def test_a_truncated_traceback_does_not_begin_within_a_secret() -> None:
    """The start of a long traceback is cut off at any character."""

    def traceback_of(length: int) -> str:
        message = "token=hunter22hunter22 " + "x" * length
        return Failure.from_exception(ValueError(message)).traceback or ""

    lengths = range(2 * TRACEBACK_LIMIT - 30, 2 * TRACEBACK_LIMIT)
    assert [length for length in lengths if "r22" in traceback_of(length)] == []


# Evidence


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (400, 400),
        (100, 100),
        (599, 599),
        (99, None),
        (600, None),
        ("429", 429),
        (429.0, 429),
        ("600", None),
        ("4290", None),
        ("-42", None),
        ("²29", None),
        ("", None),
        (True, None),
        (4.5, None),
        (float("nan"), None),
        pytest.param(10**400, None, id="huge"),
    ],
)
def test_a_status_is_a_valid_http_status_or_none(value: Any, expected: int | None) -> None:
    assert Failure.create("x", status=value).status == expected


@pytest.mark.parametrize(
    ("value", "seconds"), [(7, 7), ("30", 30), ("1m30s", 90), (-1, 0), ("soon", None), (None, None)]
)
def test_retry_after_is_a_valid_number_of_seconds_or_none(
    value: Any, seconds: float | None
) -> None:
    retry_after = Failure.create("x", retry_after=value).retry_after
    assert retry_after == (None if seconds is None else timedelta(seconds=seconds))


def test_retry_after_is_capped_at_a_month() -> None:
    assert Failure.create("x", retry_after=40 * DAY).retry_after == MAX_RETRY_AFTER


def test_retry_after_can_be_a_day() -> None:
    assert Failure.create("x", retry_after=DAY).retry_after == DAY


def test_a_retry_after_date_needs_the_current_time() -> None:
    error = AnnotatedError("x", retry_after="Wed, 21 Oct 2026 07:28:00 GMT")
    at = datetime(2026, 10, 21, 7, 27, tzinfo=UTC)
    assert Failure.from_exception(error, at=at).retry_after == timedelta(minutes=1)
    assert Failure.from_exception(error).retry_after is None


@pytest.mark.parametrize("at", ["noon", 5, datetime(2026, 10, 21)])  # noqa: DTZ001 - naive on purpose
def test_an_invalid_current_time_is_ignored(at: Any) -> None:
    date = "Wed, 21 Oct 2026 07:28:00 GMT"
    assert Failure.create("x", retry_after=date, at=at).retry_after is None


def test_retry_after_is_found_in_the_message() -> None:
    assert Failure.create("Please try again in 6m0s.").retry_after == timedelta(minutes=6)


def test_the_retry_after_field_precedes_the_message() -> None:
    failure = Failure.create("Please try again in 6m0s.", retry_after=7)
    assert failure.retry_after == timedelta(seconds=7)


def test_an_invalid_retry_after_falls_back_to_the_message() -> None:
    failure = Failure.create("Please try again in 6m0s.", retry_after="soon")
    assert failure.retry_after == timedelta(minutes=6)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("ECONNRESET", "ECONNRESET"),
        (137, "137"),
        ("", None),
        (" ", None),
        (True, None),
        (1.5, None),
        ([], None),
        (None, None),
    ],
)
def test_a_code_is_a_text_or_an_integer(value: Any, expected: str | None) -> None:
    assert Failure.create("x", code=value).code == expected


@pytest.mark.parametrize("name", ["type", "code", "phase"])
def test_a_name_is_truncated(name: str) -> None:
    text = getattr(Failure.from_json({name: "n" * 5_000}), name)
    assert len(text) == NAME_LIMIT


def test_unknown_evidence_is_ignored() -> None:
    assert Failure.create("x", colour="blue") == Failure.create("x")


@pytest.mark.parametrize("field", ["type", "code", "phase", "traceback"])
@pytest.mark.parametrize("text", SECRETS)
def test_a_secret_in_the_evidence_is_redacted(field: str, text: str) -> None:
    assert "hunter22" not in getattr(Failure.from_json({field: text}), field)


# As JSON


def test_a_failure_round_trips_through_json() -> None:
    failure = Failure.create(
        "no route", type="T", code="C", status=503, retry_after=7.5, phase="p", traceback="t"
    )
    assert Failure.from_json(json.loads(json.dumps(failure.to_json()))) == failure


def test_missing_fields_are_not_in_the_json() -> None:
    assert Failure.create("boom").to_json() == {"message": "boom"}


def test_a_failure_without_a_message_has_an_empty_one() -> None:
    assert Failure.from_json({}).message == ""


@given(stored=stored_failures)
@example(stored={"retry_after": 10**400})
@example(stored={"message": "\ud800", "traceback": "\ud800"})
@example(stored={"message": None, "status": None, "retry_after": {}})
@example(stored={"message": "Retry-After: 5", "retry_after": "soon", "at": "noon"})
def test_any_stored_failure_loads_and_round_trips(stored: dict[str, Any]) -> None:
    failure = Failure.from_json(stored)
    assert Failure.from_json(json.loads(json.dumps(failure.to_json()).encode())) == failure


# Length


@pytest.mark.parametrize("length", [MESSAGE_LIMIT - 1, MESSAGE_LIMIT, MESSAGE_LIMIT + 1, 10**6])
def test_a_message_is_truncated(length: int) -> None:
    message = Failure.create("x" * length).message
    assert len(message) == min(length, MESSAGE_LIMIT)


@pytest.mark.parametrize("length", [SUMMARY_LIMIT - 1, SUMMARY_LIMIT, SUMMARY_LIMIT + 1, 10**6])
def test_a_summary_is_a_thousand_characters_at_most(length: int) -> None:
    assert len(Failure.create("x" * length).summary) == min(length, SUMMARY_LIMIT)


def test_a_long_message_keeps_its_beginning_and_its_end() -> None:
    message = Failure.create("first words " + "x " * 50_000 + "last words").message
    assert message.startswith("first words ")
    assert message.endswith(" last words")


def test_a_megabyte_of_evidence_is_parsed_quickly() -> None:
    text = "Retry-After: 5 password=hunter22 " * 30_000
    started = time.thread_time()
    Failure.create(text, type=text, code=text, phase=text, traceback=text)
    assert time.thread_time() - started < 0.5
