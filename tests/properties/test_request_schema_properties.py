"""Parsers and their published schemas agree: nothing is accepted that the schema refuses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jsonschema_rs
import pytest
from duecourse.domain.errors import InvalidFieldsError
from duecourse.domain.failures.explain import explain_request_schema, parse_explain_request
from duecourse.domain.requests.capabilities import Capabilities
from duecourse.domain.requests.new_task import CREATABLE_FIELDS
from duecourse.domain.requests.request_schema import changes_schema, new_task_schema
from duecourse.domain.requests.task_changes import EDITABLE_FIELDS, parse_changes
from duecourse.domain.validation.fields import (
    Reader,
    choice_field,
    integer_field,
    object_field,
    text_field,
)
from hypothesis import given
from hypothesis import strategies as st

from tests.support.builders.failures import builtin_policies
from tests.support.builders.moments import NOW
from tests.support.builders.tasks import a_task, task_from_json

CAPABILITIES = Capabilities(
    types=frozenset({"reminder", "action"}),
    channels=frozenset({"console", "slack"}),
    policies={"omega": 3, "agent": 5},
    default_channel="console",
)
READERS: list[Reader[Any]] = [
    text_field(5),
    choice_field(["a", "b"]),
    integer_field(-2, 3),
    object_field(1024),
]
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-5, 5)
    | st.floats(allow_nan=False)
    | st.text(max_size=7)
)
VALUES = SCALARS | st.lists(SCALARS, max_size=2) | st.dictionaries(st.text(), SCALARS, max_size=2)
LIKELY_VALUES = {
    "description": st.sampled_from(["stretch", " x ", ""]),
    "due_at": st.sampled_from(["2027-01-01T09:00:00", "2027-01-01 09:00Z", "2020-01-01T00:00"]),
    "in": st.sampled_from(["30s", " 2H30M ", 0, 1.5, "5", -1, True]),
    "repeat": st.sampled_from(["daily", "0 9 * * 1", "once", "sometimes"]),
    "timezone": st.sampled_from(["UTC", "Europe/Berlin", "Mars/Olympus"]),
    "type": st.sampled_from(["reminder", "action", "unheard"]),
    "channel": st.sampled_from(["console", "api", "fax"]),
    "policy": st.sampled_from(["omega", "agent", "none"]),
    "max_retries": st.sampled_from([0, 1, 100, 101, 2.0]),
    "payload": st.sampled_from([{}, {"a": 1}, []]),
    "verify": st.booleans(),
}


FieldStrategies = dict[str, st.SearchStrategy[Any]]


def is_valid(value: Any, schema: Any) -> bool:
    return jsonschema_rs.Draft202012Validator(dict(schema)).is_valid(value)


def bodies(valid: dict[str, Any], likely: FieldStrategies) -> st.SearchStrategy[dict[str, Any]]:
    """Return valid bodies with up to three fields added or changed."""
    chosen = st.lists(st.sampled_from(sorted(likely)), max_size=3, unique=True)
    changes = chosen.flatmap(
        lambda names: st.fixed_dictionaries({name: likely[name] for name in names})
    )
    return changes.map(lambda changed_fields: {**valid, **changed_fields})


def likely_for(names: frozenset[str]) -> FieldStrategies:
    return {name: st.none() | LIKELY_VALUES.get(name, VALUES) for name in names} | {
        "colour": VALUES
    }


def check_accepted_bodies_are_valid(
    bodies: st.SearchStrategy[Any], parse: Callable[[Any], object], schema: Any
) -> None:
    """Check each accepted body against the schema, and that some are accepted."""
    accepted = []

    @given(body=bodies)
    def check(body: Any) -> None:
        try:
            parse(body)
        except (ValueError, InvalidFieldsError):
            return
        accepted.append(body)
        assert is_valid(body, schema)

    check()
    assert len(accepted) > 1


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.schema["type"])
def test_a_value_accepted_by_a_reader_is_valid_in_its_schema(reader: Reader[Any]) -> None:
    valid = st.sampled_from(["a", "b", 0, 3, {}])
    values = st.booleans().flatmap(lambda is_valid_value: valid if is_valid_value else VALUES)
    check_accepted_bodies_are_valid(values, reader, reader.schema)


@given(value=st.text(max_size=7, alphabet=st.characters(codec="utf-8")))
def test_a_text_valid_in_the_schema_is_accepted(value: str) -> None:
    if is_valid(value, text_field(5).schema) and value.strip():
        assert text_field(5)(value) == value


def test_an_accepted_new_task_is_valid_in_its_schema() -> None:
    def parse(body: dict[str, Any]) -> None:
        task_from_json(body, capabilities=CAPABILITIES)

    valid = {"description": "stretch", "in": "30s"}
    request_bodies = bodies(valid, likely_for(CREATABLE_FIELDS))
    check_accepted_bodies_are_valid(request_bodies, parse, new_task_schema(CAPABILITIES))


def test_accepted_changes_are_valid_in_their_schema() -> None:
    def parse(body: dict[str, Any]) -> None:
        parse_changes(a_task(), body, capabilities=CAPABILITIES, now=NOW)

    request_bodies = bodies({"description": "stretch"}, likely_for(EDITABLE_FIELDS))
    check_accepted_bodies_are_valid(request_bodies, parse, changes_schema(CAPABILITIES))


EXPLAIN_VALUES = {
    "policy": st.sampled_from(["agent", "none"]),
    "message": st.sampled_from(["", "boom"]),
    "status": st.sampled_from([99, 100, 599, True]),
    "retry_after": st.sampled_from([0, 1.5, -1, 10**12]),
    "attempt": st.sampled_from([0, 1_000, 1_001]),
    "spec": st.booleans() | st.none(),
    "code": st.none() | st.text(max_size=3),
}


def test_an_accepted_explain_request_is_valid_in_its_schema() -> None:
    valid = {"policy": "agent", "message": "boom"}
    request_bodies = bodies(valid, {**EXPLAIN_VALUES, "colour": VALUES})
    check_accepted_bodies_are_valid(
        request_bodies,
        lambda body: parse_explain_request(body, builtin_policies()),
        explain_request_schema(builtin_policies()),
    )


def test_every_field_is_in_its_schema() -> None:
    assert new_task_schema(CAPABILITIES)["properties"].keys() == CREATABLE_FIELDS
    assert changes_schema(CAPABILITIES)["properties"].keys() == EDITABLE_FIELDS
