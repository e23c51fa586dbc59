"""Whatever a task's long attributes contain, packing keeps it and never costs more."""

from __future__ import annotations

import json
from typing import Any

from duecourse.adapters.aws.dynamodb.packed_attributes import item_size, pack, unpack
from hypothesis import given
from hypothesis import strategies as st

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=1500)
any_texts = st.text(st.characters(), max_size=500)  # also lone surrogates, which JSON escapes
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | any_texts,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(texts, inner, max_size=5),
    max_leaves=20,
)
items = st.fixed_dictionaries(
    {"id": st.just({"S": "0a1b2c3d"}), "description": texts.map(lambda text: {"S": text})},
    optional={
        "last_error": texts.map(lambda text: {"S": text}),
        "payload": json_values.map(lambda value: {"S": json.dumps(value)}),
        "run": json_values.map(lambda value: {"S": json.dumps(value)}),
        "guidance": st.lists(texts, min_size=1).map(
            lambda lines: {"L": [{"S": line} for line in lines]}
        ),
        "subject": texts.map(lambda text: {"S": text}),
    },
)


@given(items)
def test_a_packed_item_is_unpacked_as_it_was(item: dict[str, Any]) -> None:
    unpacked = unpack(pack(item))
    unpacked.pop("schema_version", None)
    assert unpacked == item


@given(items)
def test_packing_never_needs_more_units(item: dict[str, Any]) -> None:
    packed = pack(item)
    assert packed is item or -(-item_size(packed) // 1024) < -(-item_size(item) // 1024)
