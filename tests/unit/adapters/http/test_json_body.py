"""A request body is parsed to a JSON object or rejected."""

from __future__ import annotations

import pytest
from duecourse.adapters.http.json_body import MAX_BODY_SIZE, parse_object
from duecourse.domain.errors import InvalidFieldsError


def parse_error(text: str) -> tuple[str, str]:
    with pytest.raises(InvalidFieldsError) as refused:
        parse_object(text)
    [error] = refused.value.errors
    return error.field, error.message


def test_an_object_is_parsed() -> None:
    assert parse_object(' {"a": [1, null, "é"]} ') == {"a": [1, None, "é"]}


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "{", "{'a': 1}", '{"a": 1} x', "\ufeff{}", '{"a": NaN}'),
        *('{"a": Infinity}', '{"a": -Infinity}', '{"a": ' + "9" * 5000 + "}"),
        *("[" * 100_000, '{"a":' * 20_000),
    ],
)
def test_invalid_json_is_rejected(text: str) -> None:
    assert parse_error(text) == ("body", "is not valid JSON")


@pytest.mark.parametrize("text", ["[]", "5", '"x"', "null", "true"])
def test_json_that_is_not_an_object_is_rejected(text: str) -> None:
    assert parse_error(text) == ("body", "must be a JSON object")


def test_a_body_of_the_maximum_length_is_parsed() -> None:
    assert parse_object("{}" + " " * (MAX_BODY_SIZE - 2)) == {}


def test_a_longer_body_is_rejected() -> None:
    assert parse_error("{}" + " " * (MAX_BODY_SIZE - 1)) == ("body", "must be at most 256 KiB")


@pytest.mark.parametrize("number", ["1e999", "-1e999"])
def test_a_number_too_large_for_json_parsers_is_rejected(number: str) -> None:
    assert parse_error(f'{{"a": {number}}}') == ("body", "is not valid JSON")
