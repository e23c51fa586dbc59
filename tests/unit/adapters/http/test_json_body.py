"""A body may be anything; an object comes of it, or a refusal."""

from __future__ import annotations

import pytest
from duecourse.adapters.http.json_body import MAX_BODY_SIZE, parse_object
from duecourse.domain.errors import InvalidFieldsError


def refusal(text: str) -> tuple[str, str]:
    with pytest.raises(InvalidFieldsError) as refused:
        parse_object(text)
    [error] = refused.value.errors
    return error.field, error.message


def test_an_object_is_read() -> None:
    assert parse_object(' {"a": [1, null, "é"]} ') == {"a": [1, None, "é"]}


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "{", "{'a': 1}", '{"a": 1} x', "\ufeff{}", '{"a": NaN}'),
        *('{"a": Infinity}', '{"a": -Infinity}', '{"a": ' + "9" * 5000 + "}"),
        *("[" * 100_000, '{"a":' * 20_000),
    ],
)
def test_what_is_not_json_is_refused(text: str) -> None:
    assert refusal(text) == ("body", "is not valid JSON")


@pytest.mark.parametrize("text", ["[]", "5", '"x"', "null", "true"])
def test_json_that_is_no_object_is_refused(text: str) -> None:
    assert refusal(text) == ("body", "must be a JSON object")


def test_the_longest_body_is_read() -> None:
    assert parse_object("{}" + " " * (MAX_BODY_SIZE - 2)) == {}


def test_a_longer_one_is_refused() -> None:
    assert refusal("{}" + " " * (MAX_BODY_SIZE - 1)) == ("body", "must be at most 256 KiB")


@pytest.mark.parametrize("number", ["1e999", "-1e999"])
def test_a_number_too_big_for_json_readers_is_refused(number: str) -> None:
    assert refusal(f'{{"a": {number}}}') == ("body", "is not valid JSON")
