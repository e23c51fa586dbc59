"""What is kept of a failure: enough to be understood, storable, and without secrets."""

from __future__ import annotations

import json
import time
from datetime import timedelta
from typing import Any

import pytest
from duecourse.domain.failure import (
    LONGEST_RETRY_AFTER,
    MESSAGE_LIMIT,
    NAME_LIMIT,
    SUMMARY_LIMIT,
    TRACEBACK_LIMIT,
    Failure,
    clean,
    cut,
)
from hypothesis import example, given
from hypothesis import strategies as st

from tests.unit.builders import DAY

SECRETS = [
    "token=hunter22",
    "Token: hunter22",
    "Bearer hunter22",
    "api_key=hunter22",
    "x-api-key: hunter22",
    '{"password": "hunter22"}',
    "{'secret': 'hunter22'}",
    "https://x.test/?access_token=hunter22&a=1",
    "client_secret=hunter22;",
    "password=hunter22 and token=hunter22",
    "Authorization: Bearer hunter22",
    "Authorization: Basic hunter22",
    "aws_secret_access_key=hunter22",
    "https://ada:hunter22@x.test/",
    "https://api.telegram.org/bot12345:hunter22/sendMessage",
    "Bearer " + "x" * 300 + "hunter22",
]
plain = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
anything = st.recursive(
    plain, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3)
)
NAMES = ("message", "type", "code", "status", "retry_after", "phase", "traceback")
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
        ("429", None),
        (True, None),
        (4.5, None),
    ],
)
def test_a_status_is_one_of_http(given: Any, kept: int | None) -> None:
    assert Failure.of("x", status=given).status == kept


@pytest.mark.parametrize(
    ("given", "seconds"),
    [
        (7, 7.0),
        (0, 0.0),
        (1.5, 1.5),
        ("30", 30.0),
        (timedelta(minutes=2), 120.0),
        (LONGEST_RETRY_AFTER, 30 * 86_400.0),
        (-1, None),
        (LONGEST_RETRY_AFTER + timedelta(seconds=1), None),
        ("soon", None),
        ("", None),
        ("nan", None),
        (float("inf"), None),
        pytest.param(10**400, None, id="more than a float holds"),
        ([], None),
        (None, None),
    ],
)
def test_a_wait_is_a_sensible_number_of_seconds(given: Any, seconds: float | None) -> None:
    kept = Failure.of("x", retry_after=given).retry_after
    assert kept == (None if seconds is None else timedelta(seconds=seconds))


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
    assert Failure.of("x", code=given).code == kept


@pytest.mark.parametrize("name", ["type", "code", "phase"])
def test_a_name_is_cut_to_its_length(name: str) -> None:
    kept = getattr(Failure.of("x", **{name: "n" * 5_000}), name)
    assert len(kept) == NAME_LIMIT


def test_evidence_nobody_knows_is_left_out() -> None:
    assert Failure.of("x", colour="blue") == Failure.of("x")


# As JSON


def test_a_failure_survives_its_way_through_json() -> None:
    failure = Failure.of(
        "no route", type="T", code="C", status=503, retry_after=7.5, phase="p", traceback="t"
    )
    assert Failure.from_json(json.loads(json.dumps(failure.to_json()))) == failure


def test_what_is_not_known_is_not_sent() -> None:
    assert Failure.of("boom").to_json() == {"message": "boom"}


def test_a_failure_without_a_message_is_still_one() -> None:
    assert Failure.from_json({}).message == ""


@given(stored=wild)
@example(stored={"retry_after": 10**400})
@example(stored={"message": "\ud800", "traceback": "\ud800"})
@example(stored={"message": None, "status": None, "retry_after": {}})
def test_whatever_is_stored_gives_a_failure_that_can_be_sent(stored: dict[str, Any]) -> None:
    failure = Failure.from_json(stored)
    assert Failure.from_json(json.loads(json.dumps(failure.to_json()).encode())) == failure


# Secrets


@pytest.mark.parametrize("text", SECRETS)
def test_a_secret_is_not_readable(text: str) -> None:
    assert "hunter22" not in clean(text)


@pytest.mark.parametrize("field", ["type", "code", "phase", "traceback"])
@pytest.mark.parametrize("text", SECRETS)
def test_a_secret_is_not_readable_in_the_evidence(field: str, text: str) -> None:
    assert "hunter22" not in getattr(Failure.of("x", **{field: text}), field)


@pytest.mark.parametrize(
    "text", ["the token expired", "password is wrong", "no secret here", "3 tokens: ok"]
)
def test_mere_words_are_left_alone(text: str) -> None:
    assert clean(text) == text


def test_what_surrounds_a_secret_is_kept() -> None:
    assert clean("GET /?token=hunter22&page=3 failed") == "GET /?token=[redacted]&page=3 failed"


def test_redacting_twice_changes_nothing() -> None:
    once = [clean(text) for text in SECRETS]
    assert [clean(text) for text in once] == once


# Length


@pytest.mark.parametrize("length", [MESSAGE_LIMIT - 1, MESSAGE_LIMIT, MESSAGE_LIMIT + 1, 10**6])
def test_a_message_is_cut_to_what_is_kept(length: int) -> None:
    message = Failure.of("x" * length).message
    assert len(message) == min(length, MESSAGE_LIMIT)


@pytest.mark.parametrize("length", [SUMMARY_LIMIT - 1, SUMMARY_LIMIT, SUMMARY_LIMIT + 1, 10**6])
def test_a_summary_is_a_thousand_characters_at_most(length: int) -> None:
    assert len(Failure.of("x" * length).summary) == min(length, SUMMARY_LIMIT)


def test_what_is_short_enough_is_kept_whole() -> None:
    assert cut("as it is", 8) == "as it is"


def test_a_long_message_keeps_its_beginning_and_its_end() -> None:
    message = Failure.of("first words " + "x " * 50_000 + "last words").message
    assert message.startswith("first words ")
    assert message.endswith(" last words")


def test_a_cut_is_visible() -> None:
    assert " […] " in cut("x " * 100, 50)


def test_a_cut_keeps_exactly_what_may_be_kept() -> None:
    kept = cut("a" * 50 + " bbbb cccc dddd eeee ffff", 40)
    assert (len(kept), kept[-15:]) == (40, " dddd eeee ffff")


@pytest.mark.parametrize("before", range(MESSAGE_LIMIT - 20, MESSAGE_LIMIT))
def test_a_cut_leaves_no_half_of_a_secret(before: int) -> None:
    assert "h" not in clean("x" * (before - 6) + " token=hunter22hunter22")


@pytest.mark.parametrize("secret", ["token=hunter22", "https://ada:hunter22@x.test/"])
@pytest.mark.parametrize("limit", [SUMMARY_LIMIT, MESSAGE_LIMIT])
def test_wherever_a_cut_falls_no_half_of_a_secret_is_left(secret: str, limit: int) -> None:
    """What is hidden makes a text shorter, so that the first cut may show after the second."""
    hidden = "token=" + "a" * 15_900 + " "

    def kept(length: int) -> str:
        before = "-" * (MESSAGE_LIMIT - len(hidden) - length)
        return clean(f"{hidden}{before} {secret} " + "z " * 20_000, limit)

    assert [length for length in range(40) if "hunte" in kept(length)] == []


def test_text_without_blanks_leaves_no_half_of_a_secret() -> None:
    """Such as JSON written tightly; its end is made short by what is hidden in it."""

    def kept(length: int) -> str:
        hidden = "a" * (MESSAGE_LIMIT - length)
        text = f'{"x" * MESSAGE_LIMIT}","password":"hunter22hunter22","token":"{hidden}"}}'
        return clean(text, MESSAGE_LIMIT)

    assert [length for length in range(60) if "r22" in kept(length)] == []


def test_half_a_character_does_not_stop_a_failure_from_being_stored() -> None:
    assert clean("bad \ud800 text").encode() == b"bad ? text"


@pytest.mark.parametrize(
    "part", ["x", "x ", "token=hunter22 ", "token", "bearer ", "authorization: ", "://a:b", "\n"]
)
def test_a_megabyte_is_read_in_no_time(part: str) -> None:
    text = part * (10**6 // len(part))
    began = time.perf_counter()
    Failure.of(text)
    assert time.perf_counter() - began < 0.1


def test_a_day_is_a_wait_that_can_be_asked_for() -> None:
    assert Failure.of("x", retry_after=DAY).retry_after == DAY
