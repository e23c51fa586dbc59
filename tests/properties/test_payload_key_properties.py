"""Whatever its name: a key that a type does not know is refused, and named."""

from __future__ import annotations

from typing import Any

import pytest
from duecourse.domain.errors import InvalidFieldsError
from duecourse.domain.requests.task_changes import parse_changes
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.support.builders.moments import NOW
from tests.support.builders.tasks import ID, a_task, task_from_json
from tests.support.payload_cases import (
    ALL_CAPABILITIES,
    FULL_PAYLOADS,
    PROVIDER_PAYLOADS,
    SHARED_KEYS,
)

KNOWN = {name for _, payload in FULL_PAYLOADS for name in payload} | SHARED_KEYS.keys()
few = settings(max_examples=40, deadline=None)
names = st.text(min_size=1, max_size=100) | st.sampled_from(sorted(KNOWN)).map(str.upper)
names |= st.sampled_from(sorted(KNOWN)).map(lambda name: name[:-1])
names |= st.sampled_from(sorted(KNOWN)).map(lambda name: f"{name} ")
values = st.none() | st.booleans() | st.integers() | st.text(max_size=9) | st.just({"of": ID})


def refusal(kind: str, payload: dict[str, Any]) -> str:
    raw = {"type": kind, "description": "x", "in": "5m", "payload": payload}
    with pytest.raises(InvalidFieldsError) as made:
        task_from_json(raw, capabilities=ALL_CAPABILITIES)
    with pytest.raises(InvalidFieldsError) as changed:
        parse_changes(
            a_task(type=kind), {"payload": payload}, capabilities=ALL_CAPABILITIES, now=NOW
        )
    [error] = made.value.errors
    assert [(one.field, one.message) for one in changed.value.errors] == [
        ("payload", error.message)
    ]
    return error.message


@few
@pytest.mark.parametrize(("kind", "payload"), FULL_PAYLOADS)
@given(name=names, value=values, before=st.booleans())
def test_an_unknown_key_is_named(
    kind: str, payload: dict[str, Any], name: str, value: Any, before: bool
) -> None:
    payload = {**payload, **SHARED_KEYS}
    assume(name not in payload)
    odd = {name: value}
    found = refusal(kind, {**odd, **payload} if before else {**payload, **odd})
    assert found.startswith(f"{name}: is ")


@few
@pytest.mark.parametrize("part", ["verifier", "review"])
@pytest.mark.parametrize("called", PROVIDER_PAYLOADS.values(), ids=PROVIDER_PAYLOADS)
@given(name=names, value=values)
def test_an_unknown_key_of_a_part_is_named_with_its_path(
    part: str, called: dict[str, Any], name: str, value: Any
) -> None:
    assume(name not in called)
    payload = {"spec": "x", part: {**called, name: value}}
    assert refusal("reminder", payload).startswith(f"{part}.{name}: unknown key; ")
