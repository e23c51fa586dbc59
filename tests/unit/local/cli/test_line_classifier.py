from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from duecourse.adapters.runtime.policy_files import read_policies

from local.cli.line_classifier import classify_lines
from tests.support.builders.failures import share_of

AGENT = read_policies()["agent"]


def test_each_input_line_gets_one_output_line_in_order() -> None:
    inputs = [
        {"id": 1, "message": "a.ts(4,1): error TS1: x", "type": None, "code": None, "status": None},
        {"id": "b", "message": "x", "code": "ECONNRESET"},
    ]
    answers = [json.loads(line) for line in classify_lines(map(json.dumps, inputs), AGENT)]
    assert answers[0] == {
        "id": 1,
        "category": "code_error",
        "kind": "type",
        "clears_by": "code_change",
        "likely": None,
        "confidence": share_of("overruling"),
        "pattern": "typescript",
        "location": {"file": "a.ts", "line": 4},
    }
    assert (answers[1]["id"], answers[1]["category"]) == ("b", "transient")
    assert answers[1]["location"] is None


def test_each_line_is_answered_before_the_next_is_read() -> None:
    def lines() -> Iterator[str]:
        yield json.dumps({"id": 1, "message": "x"})
        raise AssertionError

    assert json.loads(next(classify_lines(lines(), AGENT)))["id"] == 1


@pytest.mark.parametrize("fields", [{}, {"message": None}])
def test_a_missing_message_equals_an_empty_message(fields: dict[str, None]) -> None:
    for evidence in ({}, {"code": "ECONNRESET"}):
        silent, empty = (
            list(classify_lines([json.dumps({"id": 1, **evidence, **message})], AGENT))
            for message in (fields, {"message": ""})
        )
        assert silent == empty


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("{", "line 2 is not JSON"),
        ("[]", "line 2 must be a JSON object"),
        ('{"message": 7}', "line 2: message must be a string"),
        ('{"message": false}', "line 2: message must be a string"),
        ('{"message": []}', "line 2: message must be a string"),
        ('{"message": "x", "type": []}', "line 2: type must be a string"),
        ('{"message": "x", "code": true}', "line 2: code must be a string"),
        ('{"message": "x", "status": "503"}', "line 2: status must be an integer"),
    ],
)
def test_an_invalid_line_is_reported_with_its_field(line: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        list(classify_lines(['{"message": "x"}', line], AGENT))
