"""A table refuses the calls of all functions for a time."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from local.simulate import table_outages
from local.simulate.table_outages import TableOutages, tables_of
from local.testing.lean_aws.errors import AwsError


class FaultsOfFirstCall:
    """Strike `name` at the first call of a table, for half of the longest time."""

    is_active = True

    def __init__(self, name: str) -> None:
        self._name = name
        self.failed: list[str] = []

    def strike(self, name: str, point: str) -> float | None:
        return 0.5 if name == self._name and point.endswith("call 1") else None

    def note_failed_call(self, function: str) -> None:
        self.failed.append(function)


class Invocation:
    function = "worker"


@pytest.fixture(autouse=True)
def invocation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_outages, "current_invocation", Invocation)


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        ("throttled-table", "ProvisionedThroughputExceededException"),
        ("failing-table", "InternalServerError"),
    ],
)
def test_a_table_refuses_until_its_outage_ends(fault: str, code: str) -> None:
    faults: Any = FaultsOfFirstCall(fault)
    now = [timedelta(0)]
    outages = TableOutages(faults, lambda: now[0])

    for seconds in (0, 29):
        now[0] = timedelta(seconds=seconds)
        with pytest.raises(AwsError) as refused:
            outages.check("dynamodb", "GetItem", {"TableName": "a"})
        assert refused.value.code == code
    now[0] = timedelta(seconds=30)
    outages.check("dynamodb", "GetItem", {"TableName": "a"})
    assert faults.failed == ["worker", "worker"]


def test_a_throttled_transaction_is_cancelled_with_a_reason_for_each_action() -> None:
    faults: Any = FaultsOfFirstCall("throttled-table")
    outages = TableOutages(faults, lambda: timedelta(0))
    request = {"TransactItems": [{"Put": {"TableName": "a"}}, {"Put": {"TableName": "b"}}]}

    with pytest.raises(AwsError) as refused:
        outages.check("dynamodb", "TransactWriteItems", request)

    assert refused.value.code == "TransactionCanceledException"
    assert refused.value.fields["CancellationReasons"] == [{"Code": "ThrottlingError"}] * 2


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
