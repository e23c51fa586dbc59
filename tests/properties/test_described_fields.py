"""What is read and what is told of it are one: nothing is taken that the schema would refuse."""

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

OFFER = Capabilities(
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
LIKELY = {
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


Likely = dict[str, st.SearchStrategy[Any]]


def fits(value: Any, schema: Any) -> bool:
    return jsonschema_rs.Draft202012Validator(dict(schema)).is_valid(value)


def bodies(fine: dict[str, Any], likely: Likely) -> st.SearchStrategy[dict[str, Any]]:
    """A body that is taken, with up to three fields more, or with other values."""
    chosen = st.lists(st.sampled_from(sorted(likely)), max_size=3, unique=True)
    changes = chosen.flatmap(
        lambda names: st.fixed_dictionaries({name: likely[name] for name in names})
    )
    return changes.map(lambda found: {**fine, **found})


def likely_for(names: frozenset[str]) -> Likely:
    return {name: st.none() | LIKELY.get(name, VALUES) for name in names} | {"colour": VALUES}


def check_that_what_is_taken_fits(
    bodies: st.SearchStrategy[Any], take: Callable[[Any], object], schema: Any
) -> None:
    """Also that some are taken: otherwise nothing was checked."""
    taken = []

    @given(body=bodies)
    def check(body: Any) -> None:
        try:
            take(body)
        except (ValueError, InvalidFieldsError):
            return
        taken.append(body)
        assert fits(body, schema)

    check()
    assert len(taken) > 1


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.schema["type"])
def test_what_a_reader_takes_fits_what_it_tells(reader: Reader[Any]) -> None:
    fine = st.sampled_from(["a", "b", 0, 3, {}])
    values = st.booleans().flatmap(lambda is_fine: fine if is_fine else VALUES)
    check_that_what_is_taken_fits(values, reader, reader.schema)


@given(value=st.text(max_size=7, alphabet=st.characters(codec="utf-8")))
def test_a_text_that_fits_what_is_told_is_taken(value: str) -> None:
    if fits(value, text_field(5).schema) and value.strip():
        assert text_field(5)(value) == value


def test_a_new_task_that_is_taken_fits_what_is_told() -> None:
    def take(body: dict[str, Any]) -> None:
        task_from_json(body, capabilities=OFFER)

    fine = {"description": "stretch", "in": "30s"}
    found = bodies(fine, likely_for(CREATABLE_FIELDS))
    check_that_what_is_taken_fits(found, take, new_task_schema(OFFER))


def test_changes_that_are_taken_fit_what_is_told() -> None:
    def take(body: dict[str, Any]) -> None:
        parse_changes(a_task(), body, capabilities=OFFER, now=NOW)

    found = bodies({"description": "stretch"}, likely_for(EDITABLE_FIELDS))
    check_that_what_is_taken_fits(found, take, changes_schema(OFFER))


ASKED = {
    "policy": st.sampled_from(["agent", "none"]),
    "message": st.sampled_from(["", "boom"]),
    "status": st.sampled_from([99, 100, 599, True]),
    "retry_after": st.sampled_from([0, 1.5, -1, 10**12]),
    "attempt": st.sampled_from([0, 1_000, 1_001]),
    "spec": st.booleans() | st.none(),
    "code": st.none() | st.text(max_size=3),
}


def test_a_question_that_is_taken_fits_what_is_told() -> None:
    fine = {"policy": "agent", "message": "boom"}
    found = bodies(fine, {**ASKED, "colour": VALUES})
    check_that_what_is_taken_fits(
        found,
        lambda body: parse_explain_request(body, builtin_policies()),
        explain_request_schema(builtin_policies()),
    )


def test_every_field_is_told_of() -> None:
    assert new_task_schema(OFFER)["properties"].keys() == CREATABLE_FIELDS
    assert changes_schema(OFFER)["properties"].keys() == EDITABLE_FIELDS
