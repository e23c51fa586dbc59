from __future__ import annotations

from typing import Any

import pytest

from local.simulate.throttled_tables import tables_of


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        ({"TableName": "a", "Key": {}}, ["a"]),
        ({"RequestItems": {"a": [], "b": []}}, ["a", "b"]),
        (
            {"TransactItems": [{"Put": {"TableName": "b"}}, {"Update": {"TableName": "a"}}]},
            ["b", "a"],
        ),
        ({"TransactItems": [{"Put": {"TableName": "a"}}, {"Get": {"TableName": "a"}}]}, ["a"]),
    ],
)
def test_the_tables_of_every_kind_of_request_are_known(
    request_: dict[str, Any], expected: list[str]
) -> None:
    assert tables_of(request_) == expected
