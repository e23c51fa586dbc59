"""Our subset of JSON Schema agrees with the reference implementation."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from duecourse.domain.validation.json_schema import parse_schema
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator  # type: ignore[import-untyped] # ships none

from tests.support.examples import scale_examples

property_settings = settings(
    max_examples=scale_examples(400), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
NAMES = ["a", "b", "c"]
names = st.sampled_from(NAMES)
small = st.integers(-2, 2) | st.sampled_from([-0.5, 0.0, 0.5, 1.0, 2.0, 10**20, 1e20])
plain = st.none() | st.booleans() | small | st.text("aé😀", max_size=4)
values = st.recursive(
    plain,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names, inner, max_size=3),
    max_leaves=6,
)
# Every schema is held against these, too: they lie on the edges of what schemas ask for.
NUMBERS = [-1, 0, 0.5, 1, 1.0, 2, 10**20, 1e20]
TEXTS = ["", "a", "é😀", "aaa"]
LISTS = [[], [1], [1, 1.0], [1, True], ["a", "é", "a"], [{"a": 1}, {"a": 1.0}], [[], None, 0]]
OBJECTS = [{}, {"a": 1}, {"b": "a"}, {"a": None, "b": 2}, {"a": [1], "c": {"a": True}}]
EDGES = [None, True, False, *NUMBERS, *TEXTS, *LISTS, *OBJECTS]
sizes = st.integers(0, 4) | st.sampled_from([0.0, 1.0, 2.0])
KINDS = ["array", "boolean", "integer", "null", "number", "object", "string"]
kinds = st.sampled_from(KINDS)
Keywords = dict[str, st.SearchStrategy[Any]]
of_anything: Keywords = {
    "type": kinds | st.lists(kinds, min_size=1, max_size=3, unique=True),
    "enum": st.lists(values, min_size=1, max_size=4),
    "const": values,
}
of_numbers: Keywords = {
    "minimum": small,
    "maximum": small,
    "exclusiveMinimum": small,
    "exclusiveMaximum": small,
}
of_texts: Keywords = {"minLength": sizes, "maxLength": sizes, "format": st.just("email")}
of_lists: Keywords = {"minItems": sizes, "maxItems": sizes, "uniqueItems": st.booleans()}
of_objects: Keywords = {
    "required": st.lists(names, max_size=3, unique=True),
    "title": st.text(max_size=3),
    "default": values,
}


def keywords_of(*families: Keywords) -> st.SearchStrategy[dict[str, Any]]:
    """Return keywords of one family, so that they apply to the same value."""
    return st.sampled_from((*families, of_anything)).flatmap(some_keywords)


def some_keywords(family: Keywords) -> st.SearchStrategy[dict[str, Any]]:
    chosen = st.lists(st.sampled_from(sorted(family)), min_size=1, max_size=3, unique=True)
    return chosen.flatmap(
        lambda keywords_chosen: st.fixed_dictionaries(
            {name: family[name] for name in keywords_chosen}
        )
    )


def larger(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    part = inner | st.booleans()
    parts = st.lists(part, min_size=1, max_size=3)
    named = st.dictionaries(names, part, min_size=1, max_size=2)
    return keywords_of(
        {**of_objects, "properties": named, "additionalProperties": part},
        {"properties": named, "additionalProperties": part},
        {**of_lists, "items": part},
        {"anyOf": parts, "oneOf": parts, "allOf": parts},
    )


small_schemas = keywords_of(of_numbers, of_texts, of_lists, of_objects)
schemas = small_schemas | larger(small_schemas) | larger(larger(small_schemas))
keys = st.sampled_from(
    [*of_anything, *of_numbers, *of_texts, *of_lists, *of_objects, "items", "anyOf", "properties"]
)
wild = st.recursive(
    plain,
    lambda inner: st.dictionaries(keys, inner | st.lists(inner, max_size=2), max_size=3),
)


def is_compared_correctly(value: Any) -> bool:
    """`jsonschema` sorts [true] and [1] as equal, and may then miss a duplicate."""
    parts = value if isinstance(value, list) else ()
    inner = value.values() if isinstance(value, dict) else parts
    return not any(isinstance(part, list) for part in parts) and all(
        is_compared_correctly(part) for part in inner
    )


@property_settings
@given(schema=schemas, value=values)
def test_validation_agrees_with_the_reference(schema: dict[str, Any], value: Any) -> None:
    assume("uniqueItems" not in str(schema) or is_compared_correctly(value))
    Draft202012Validator.check_schema(schema)
    own_schema, reference = parse_schema(schema), Draft202012Validator(schema)
    for candidate in (value, *EDGES):
        assert (own_schema.find_errors(candidate) == []) == reference.is_valid(candidate)


@property_settings
@given(schema=schemas, value=values)
def test_every_error_starts_with_its_path(schema: dict[str, Any], value: Any) -> None:
    for error in parse_schema(schema).find_errors(value):
        assert error.startswith("answer")
        assert ": must " in error or error.endswith(": is required")


@property_settings
@given(raw=wild)
def test_any_schema_is_parsed_or_refused(raw: Any) -> None:
    with suppress(ValueError):
        assert isinstance(parse_schema(raw).find_errors([1, {"a": None}]), list)
