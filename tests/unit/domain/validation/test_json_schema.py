"""Response schemas: supported keywords, rejected schemas, and the errors of a value."""

from __future__ import annotations

import string
from typing import Any

import pytest
from duecourse.domain.validation.json_schema import (
    MAX_ERRORS,
    MAX_SCHEMA_DEPTH,
    parse_schema,
)
from duecourse.domain.validation.json_schema_path import MAX_NODES


def validation_errors(schema: dict[str, Any], value: Any) -> list[str]:
    return parse_schema(schema).find_errors(value)


def schema_error(schema: Any) -> str:
    with pytest.raises(ValueError, match="schema") as error:
        parse_schema(schema)
    return str(error.value)


# Valid values

VALID_VALUES: list[tuple[dict[str, Any], Any]] = [
    ({}, None),
    ({"type": "null"}, None),
    ({"type": "integer"}, 1.0),
    ({"type": "integer"}, 10**400),
    ({"type": "number"}, 1),
    ({"type": ["string", "null"]}, None),
    ({"type": "object", "required": ["a"]}, {"a": None}),
    ({"properties": {"a": {"type": "string"}}}, {"b": 1}),
    ({"properties": {"a": {"type": "string"}}}, "no object at all"),
    ({"properties": {"a": {}}, "additionalProperties": False}, {"a": 1}),
    ({"additionalProperties": {"type": "integer"}}, {"a": 1, "b": 2}),
    ({"items": {"type": "integer"}, "minItems": 2, "maxItems": 2}, [1, 2]),
    ({"uniqueItems": True}, [1, True, "1", [1], [True], {"a": 1}, {"a": True}]),
    ({"uniqueItems": False}, [1, 1]),
    ({"enum": ["red", None, {"a": [1]}]}, {"a": [1.0]}),
    ({"const": 1}, 1.0),
    ({"minLength": 2, "maxLength": 2.0}, "é😀"),
    ({"minimum": 1, "maximum": 1}, 1),
    ({"exclusiveMinimum": 0, "exclusiveMaximum": 1}, 0.5),
    ({"minimum": 5}, "a text has no minimum"),
    ({"anyOf": [{"type": "string"}, {"type": "null"}]}, None),
    ({"oneOf": [{"minimum": 2}, {"maximum": 1}]}, 3),
    ({"allOf": [{"type": "integer"}, {"minimum": 2}]}, 3),
    ({"items": True}, [1]),
]


@pytest.mark.parametrize(("schema", "value"), VALID_VALUES)
def test_a_valid_value_has_no_errors(schema: dict[str, Any], value: Any) -> None:
    assert validation_errors(schema, value) == []


# Invalid values

INVALID_VALUES: list[tuple[dict[str, Any], Any, str]] = [
    ({"type": "string"}, 1, "answer: must be a string"),
    ({"type": "integer"}, 1.5, "answer: must be a whole number"),
    ({"type": "integer"}, True, "answer: must be a whole number"),
    ({"type": "number"}, True, "answer: must be a number"),
    ({"type": "boolean"}, 1, "answer: must be true or false"),
    ({"type": "object"}, [], "answer: must be an object"),
    ({"type": ["array", "null"]}, {}, "answer: must be a list or null"),
    ({"required": ["a"]}, {}, "answer.a: is required"),
    ({"properties": {"a": {"type": "null"}}}, {"a": 0}, "answer.a: must be null"),
    ({"properties": {"a": False}}, {"a": 0}, "answer.a: must be absent"),
    ({"additionalProperties": False}, {"a": 0}, "answer.a: must be absent"),
    ({"additionalProperties": {"minimum": 1}}, {"a": 0}, "answer.a: must be at least 1"),
    ({"items": {"maximum": 1}}, [0, 2], "answer[1]: must be at most 1"),
    ({"exclusiveMinimum": 1}, 1, "answer: must be more than 1"),
    ({"maximum": -(10**9999)}, 1, "answer: must be at most a huge number"),
    ({"exclusiveMaximum": 1}, 1, "answer: must be less than 1"),
    ({"minLength": 2}, "😀", "answer: must have at least 2 characters"),
    ({"maxLength": 1}, "ab", "answer: must have at most 1 characters"),
    ({"minItems": 1}, [], "answer: must have at least 1 items"),
    ({"maxItems": 1}, [1, 1], "answer: must have at most 1 items"),
    ({"uniqueItems": True}, [1, "1", 1.0], "answer[2]: must be unique"),
    ({"uniqueItems": True}, [[{"a": 1}], [{"a": 1}]], "answer[1]: must be unique"),
    ({"enum": ["red", 1]}, True, "answer: must be a value of enum"),
    ({"const": {"a": 1}}, {"a": 1, "b": 2}, "answer: must equal the value of const"),
    (
        {"anyOf": [{"type": "null"}, False]},
        1,
        "answer: must match a schema of anyOf",
    ),
    ({"oneOf": [{}, {}, False]}, 1, "answer: must match exactly one schema of oneOf"),
    ({"allOf": [{}, {"type": "null"}]}, 1, "answer: must be null"),
]


@pytest.mark.parametrize(("schema", "value", "error"), INVALID_VALUES)
def test_an_error_names_its_path(schema: dict[str, Any], value: Any, error: str) -> None:
    assert validation_errors(schema, value) == [error]


def test_a_path_consists_of_names_and_indexes() -> None:
    name = {"properties": {"name": {"type": "string"}}}
    schema = {"properties": {"items": {"items": name}}}
    value = {"items": [{"name": "a"}, {}, {"name": 5}]}
    assert validation_errors(schema, value) == ["answer.items[2].name: must be a string"]


def test_all_errors_are_reported_up_to_a_limit() -> None:
    assert validation_errors({"items": {"type": "null"}}, [1] * 2) == [
        "answer[0]: must be null",
        "answer[1]: must be null",
    ]
    assert len(validation_errors({"items": {"type": "null"}}, [1] * 500)) == MAX_ERRORS


def test_a_very_long_name_is_truncated() -> None:
    [error] = validation_errors({"additionalProperties": False}, {"x" * 10_000: 1})
    assert len(error) < 200


@pytest.mark.parametrize("name", ['{"code":"over"}', "wait 5 days", "a\nError", "\ud800", "a: b"])
def test_special_characters_of_a_name_are_replaced(name: str) -> None:
    [error] = validation_errors({"additionalProperties": False}, {name: 1})
    path, _, problem = error.partition(": ")
    assert set(path) <= {*string.ascii_letters, *string.digits, *".?"}
    assert problem == "must be absent"


def nest_value(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


def test_a_value_nested_too_deep_is_an_error() -> None:
    assert validation_errors({"uniqueItems": True}, nest_value(50)) == []
    [error] = validation_errors({"uniqueItems": True}, nest_value(100_000))
    assert error == "answer: must not be nested deeper than 50 levels"


def test_a_value_too_large_to_check_is_an_error() -> None:
    schema = parse_schema({"allOf": [{"items": {}}] * 400})
    assert schema.find_errors([0] * 1_000) == []
    [error] = schema.find_errors([0] * 100_000)
    assert error == "answer: is too large to be checked against this schema"


# Rejected schemas


@pytest.mark.parametrize("raw", [None, True, [], "object", 5])
def test_a_schema_must_be_an_object(raw: Any) -> None:
    assert schema_error(raw) == "schema: must be a JSON object"


@pytest.mark.parametrize(
    "keyword",
    [
        *("pattern", "patternProperties", "$ref", "$defs", "$id", "$dynamicRef", "if", "not"),
        *("prefixItems", "contains", "multipleOf", "dependentRequired", "typo", "Type"),
    ],
)
def test_an_unsupported_keyword_is_rejected_with_its_path(keyword: str) -> None:
    schema = {"properties": {"name": {keyword: "(a+)+"}}}
    assert schema_error(schema).startswith(f"schema.properties.name.{keyword}: is not supported")


def test_annotations_are_ignored() -> None:
    annotations = dict.fromkeys(
        ("title", "description", "default", "examples", "$schema", "$comment", "format"), "(a+)+"
    )
    assert validation_errors({**annotations, "type": "string"}, "x") == []


INVALID_SCHEMAS: list[tuple[dict[str, Any], str]] = [
    ({"type": "text"}, "schema.type: must be one or more of: array, boolean, "),
    ({"type": []}, "schema.type: must be one or more of: "),
    ({"type": ["null", 1]}, "schema.type: must be one or more of: "),
    ({"properties": []}, "schema.properties: must be an object"),
    ({"properties": {"a": 1}}, "schema.properties.a: must be a JSON object"),
    ({"required": "a"}, "schema.required: must be a list of names"),
    ({"required": [1]}, "schema.required: must be a list of names"),
    ({"additionalProperties": 1}, "schema.additionalProperties: must be a JSON object"),
    ({"items": [{}]}, "schema.items: must be a JSON object"),
    ({"items": {"items": {"type": 1}}}, "schema.items.items.type: must be"),
    ({"enum": []}, "schema.enum: must be a non-empty list"),
    ({"enum": "a"}, "schema.enum: must be a non-empty list"),
    ({"minLength": -1}, "schema.minLength: must be a whole number of at least 0"),
    ({"maxItems": 1.5}, "schema.maxItems: must be a whole number of at least 0"),
    ({"minItems": True}, "schema.minItems: must be a whole number of at least 0"),
    ({"minimum": "1"}, "schema.minimum: must be a number"),
    ({"maximum": float("nan")}, "schema.maximum: must be a number"),
    ({"uniqueItems": 1}, "schema.uniqueItems: must be true or false"),
    ({"anyOf": []}, "schema.anyOf: must be a non-empty list"),
    ({"oneOf": {}}, "schema.oneOf: must be a non-empty list"),
    ({"allOf": [{}, {"not": {}}]}, "schema.allOf[1].not: is not supported"),
]


@pytest.mark.parametrize(("schema", "message"), INVALID_SCHEMAS)
def test_an_invalid_schema_is_rejected_with_its_path(schema: dict[str, Any], message: str) -> None:
    assert schema_error(schema).startswith(message)


def nest_schema(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {}
    for _ in range(levels - 1):
        schema = {"items": schema}
    return schema


def test_a_schema_has_a_bounded_depth() -> None:
    parse_schema(nest_schema(MAX_SCHEMA_DEPTH))
    assert schema_error(nest_schema(MAX_SCHEMA_DEPTH + 1)).endswith("nested deeper than 20 levels")
    assert schema_error(nest_schema(100_000)).endswith("nested deeper than 20 levels")


def test_a_value_inside_a_schema_has_a_bounded_depth() -> None:
    parse_schema({"const": nest_value(50)})
    assert (
        schema_error({"const": nest_value(51)})
        == "schema.const: must not be nested deeper than 50 levels"
    )
    assert schema_error({"enum": [nest_value(100_000)]}).startswith(
        "schema.enum: must not be nested deeper"
    )


def test_a_schema_has_a_bounded_number_of_nodes() -> None:
    parse_schema({"anyOf": [{}] * (MAX_NODES - 1)})
    assert schema_error({"anyOf": [{}] * MAX_NODES}).endswith("has more than 1,000 parts")
    assert schema_error({"enum": [1] * MAX_NODES}).endswith("has more than 1,000 parts")
    assert schema_error({"required": ["a"] * MAX_NODES}).endswith("has more than 1,000 parts")
