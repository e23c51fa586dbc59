"""What is kept of a failure: enough to be understood, storable, and without secrets."""

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
plain = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
anything = st.recursive(
    plain, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3)
)
NAMES = ("message", "type", "code", "status", "retry_after", "phase", "traceback", "at")
wild = st.fixed_dictionaries({}, optional=dict.fromkeys(NAMES, anything))


class KnowingError(Exception):
    """An error that says by its attributes what it is."""

    def __init__(self, message: str, **known: Any) -> None:
        super().__init__(message)
        for name, value in known.items():
            setattr(self, name, value)


def raised(error: Exception) -> Exception:
    """With the traceback that raising leaves."""
    try:
        raise error
    except type(error) as caught:
        return caught


# From an exception


def test_a_failure_names_its_exception() -> None:
    failure = Failure.from_exception(ValueError("no route"))
    assert (failure.message, failure.type) == ("ValueError: no route", "ValueError")


def test_a_failure_made_from_an_exception_is_clean() -> None:
    failure = Failure.from_exception(ValueError("token=hunter22"))
    assert failure.message == "ValueError: token=[redacted]"


def test_an_exception_may_know_all_that_a_failure_asks() -> None:
    known = {"type": "RateLimitError", "code": "slow_down", "status": 429, "retry_after": 7}
    failure = Failure.from_exception(KnowingError("wait", **known), phase="mutating")
    told = (failure.message, failure.type, failure.code, failure.status, failure.phase)
    assert told == ("wait", "RateLimitError", "slow_down", 429, "mutating")
    assert failure.retry_after == timedelta(seconds=7)


def test_an_exception_that_has_no_type_to_tell_tells_none() -> None:
    failure = Failure.from_exception(KnowingError("the provider's own words", type=None))
    assert (failure.message, failure.type) == ("the provider's own words", None)


def test_a_failure_keeps_where_its_exception_was_raised() -> None:
    failure = Failure.from_exception(raised(ValueError("no route")))
    assert "test_failure.py" in (failure.traceback or "")


def test_the_end_of_a_long_traceback_is_kept() -> None:
    failure = Failure.from_exception(raised(ValueError("x " * 20_000 + "the end")))
    kept = failure.traceback or ""
    assert len(kept) <= TRACEBACK_LIMIT
    assert kept.rstrip().endswith("the end")


def test_where_an_error_of_somebody_elses_was_raised_says_nothing_about_it() -> None:
    error = raised(KnowingError("the provider's own words", type="RateLimitError"))
    assert Failure.from_exception(error).traceback is None


@pytest.mark.parametrize("secret", SECRETS)
def test_no_secret_of_an_error_that_has_a_type_is_readable(secret: str) -> None:
    kept = Failure.from_exception(KnowingError(secret, type=secret, code=secret)).to_json()
    assert "hunter22" not in json.dumps(kept)


@pytest.mark.parametrize("secret", SECRETS)
def test_no_secret_of_an_exception_is_readable_anywhere(secret: str) -> None:
    error = raised(KnowingError(secret, code=secret))
    kept = Failure.from_exception(error, phase=secret).to_json()
    assert "hunter22" not in json.dumps(kept)


def test_a_traceback_does_not_begin_within_a_secret() -> None:
    """Only its end is kept, wherever that begins."""

    def kept(length: int) -> str:
        message = "token=hunter22hunter22 " + "x" * length
        return Failure.from_exception(ValueError(message)).traceback or ""

    around = range(2 * TRACEBACK_LIMIT - 30, 2 * TRACEBACK_LIMIT)
    assert [length for length in around if "r22" in kept(length)] == []


# Evidence


@pytest.mark.parametrize(
    ("given", "kept"),
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
def test_a_status_is_one_of_http(given: Any, kept: int | None) -> None:
    assert Failure.create("x", status=given).status == kept


@pytest.mark.parametrize(
    ("given", "seconds"), [(7, 7), ("30", 30), ("1m30s", 90), (-1, 0), ("soon", None), (None, None)]
)
def test_a_wait_is_a_sensible_number_of_seconds(given: Any, seconds: float | None) -> None:
    kept = Failure.create("x", retry_after=given).retry_after
    assert kept == (None if seconds is None else timedelta(seconds=seconds))


def test_a_wait_is_at_most_a_month() -> None:
    assert Failure.create("x", retry_after=40 * DAY).retry_after == MAX_RETRY_AFTER


def test_a_day_is_a_wait_that_can_be_asked_for() -> None:
    assert Failure.create("x", retry_after=DAY).retry_after == DAY


def test_a_date_is_a_wait_for_who_knows_the_time() -> None:
    error = KnowingError("x", retry_after="Wed, 21 Oct 2026 07:28:00 GMT")
    at = datetime(2026, 10, 21, 7, 27, tzinfo=UTC)
    assert Failure.from_exception(error, at=at).retry_after == timedelta(minutes=1)
    assert Failure.from_exception(error).retry_after is None


@pytest.mark.parametrize("at", ["noon", 5, datetime(2026, 10, 21)])  # noqa: DTZ001 - it is meant
def test_a_time_that_is_none_is_not_known(at: Any) -> None:
    date = "Wed, 21 Oct 2026 07:28:00 GMT"
    assert Failure.create("x", retry_after=date, at=at).retry_after is None


def test_a_message_may_tell_the_wait() -> None:
    assert Failure.create("Please try again in 6m0s.").retry_after == timedelta(minutes=6)


def test_a_wait_of_its_own_goes_before_the_message() -> None:
    failure = Failure.create("Please try again in 6m0s.", retry_after=7)
    assert failure.retry_after == timedelta(seconds=7)


def test_a_wait_that_makes_no_sense_leaves_it_to_the_message() -> None:
    failure = Failure.create("Please try again in 6m0s.", retry_after="soon")
    assert failure.retry_after == timedelta(minutes=6)


@pytest.mark.parametrize(
    ("given", "kept"),
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
def test_a_code_is_a_text_or_a_number(given: Any, kept: str | None) -> None:
    assert Failure.create("x", code=given).code == kept


@pytest.mark.parametrize("name", ["type", "code", "phase"])
def test_a_name_is_cut_to_its_length(name: str) -> None:
    kept = getattr(Failure.from_json({name: "n" * 5_000}), name)
    assert len(kept) == NAME_LIMIT


def test_evidence_nobody_knows_is_left_out() -> None:
    assert Failure.create("x", colour="blue") == Failure.create("x")


@pytest.mark.parametrize("field", ["type", "code", "phase", "traceback"])
@pytest.mark.parametrize("text", SECRETS)
def test_a_secret_is_not_readable_in_the_evidence(field: str, text: str) -> None:
    assert "hunter22" not in getattr(Failure.from_json({field: text}), field)


# As JSON


def test_a_failure_survives_its_way_through_json() -> None:
    failure = Failure.create(
        "no route", type="T", code="C", status=503, retry_after=7.5, phase="p", traceback="t"
    )
    assert Failure.from_json(json.loads(json.dumps(failure.to_json()))) == failure


def test_what_is_not_known_is_not_sent() -> None:
    assert Failure.create("boom").to_json() == {"message": "boom"}


def test_a_failure_without_a_message_is_still_one() -> None:
    assert Failure.from_json({}).message == ""


@given(stored=wild)
@example(stored={"retry_after": 10**400})
@example(stored={"message": "\ud800", "traceback": "\ud800"})
@example(stored={"message": None, "status": None, "retry_after": {}})
@example(stored={"message": "Retry-After: 5", "retry_after": "soon", "at": "noon"})
def test_whatever_is_stored_gives_a_failure_that_can_be_sent(stored: dict[str, Any]) -> None:
    failure = Failure.from_json(stored)
    assert Failure.from_json(json.loads(json.dumps(failure.to_json()).encode())) == failure


# Length


@pytest.mark.parametrize("length", [MESSAGE_LIMIT - 1, MESSAGE_LIMIT, MESSAGE_LIMIT + 1, 10**6])
def test_a_message_is_cut_to_what_is_kept(length: int) -> None:
    message = Failure.create("x" * length).message
    assert len(message) == min(length, MESSAGE_LIMIT)


@pytest.mark.parametrize("length", [SUMMARY_LIMIT - 1, SUMMARY_LIMIT, SUMMARY_LIMIT + 1, 10**6])
def test_a_summary_is_a_thousand_characters_at_most(length: int) -> None:
    assert len(Failure.create("x" * length).summary) == min(length, SUMMARY_LIMIT)


def test_a_long_message_keeps_its_beginning_and_its_end() -> None:
    message = Failure.create("first words " + "x " * 50_000 + "last words").message
    assert message.startswith("first words ")
    assert message.endswith(" last words")


def test_a_megabyte_of_everything_is_read_in_no_time() -> None:
    text = "Retry-After: 5 password=hunter22 " * 30_000
    began = time.thread_time()
    Failure.create(text, type=text, code=text, phase=text, traceback=text)
    assert time.thread_time() - began < 0.5
