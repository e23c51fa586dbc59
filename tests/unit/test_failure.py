"""What is kept of a failure: short, storable, and without secrets."""

from __future__ import annotations

import pytest
from duecourse.domain.failure import MESSAGE_LIMIT, Failure, clean


def test_a_failure_names_its_exception() -> None:
    failure = Failure.from_exception(ValueError("no route"))
    assert failure == Failure("ValueError: no route", "unknown")


def test_a_failure_made_from_an_exception_is_clean() -> None:
    failure = Failure.from_exception(ValueError("token=hunter22"))
    assert failure.message == "ValueError: token=[redacted]"


@pytest.mark.parametrize(
    "text",
    [
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
        pytest.param("Authorization: Bearer hunter22"),
        pytest.param("Authorization: Basic hunter22"),
        pytest.param("aws_secret_access_key=hunter22"),
        pytest.param("https://ada:hunter22@x.test/"),
        pytest.param("https://api.telegram.org/bot12345:hunter22/sendMessage"),
        pytest.param("Bearer " + "x" * 300 + "hunter22"),
    ],
)
def test_a_secret_is_not_readable(text: str) -> None:
    assert "hunter22" not in clean(text)


@pytest.mark.parametrize(
    "text", ["the token expired", "password is wrong", "no secret here", "3 tokens: ok"]
)
def test_mere_words_are_left_alone(text: str) -> None:
    assert clean(text) == text


def test_what_surrounds_a_secret_is_kept() -> None:
    assert clean("GET /?token=hunter22&page=3 failed") == "GET /?token=[redacted]&page=3 failed"


@pytest.mark.parametrize("length", [MESSAGE_LIMIT - 1, MESSAGE_LIMIT, MESSAGE_LIMIT + 1, 10**6])
def test_a_message_is_cut_to_what_is_kept(length: int) -> None:
    assert clean("x" * length) == "x" * min(length, 1000)


@pytest.mark.parametrize("before", range(MESSAGE_LIMIT - 20, MESSAGE_LIMIT))
def test_a_cut_leaves_no_half_of_a_secret(before: int) -> None:
    assert "h" not in clean("x" * (before - 6) + " token=hunter22hunter22")


def test_half_a_character_does_not_stop_a_failure_from_being_stored() -> None:
    assert clean("bad \ud800 text").encode() == b"bad ? text"
