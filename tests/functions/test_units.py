"""DynamoDB's sizing rules, checked against sizes counted by hand."""

from __future__ import annotations

from typing import Any

import pytest

from bench.dynamodb_units import (
    Index,
    Table,
    item_size,
    page_units,
    read_units,
    table_from_template,
    value_size,
    write_units,
)
from local.runtime.template import load_template, resources_of_type

DUE = Index("DueIndex", ("due_shard", "due_at"), frozenset({"due_shard", "due_at", "id"}))
TABLE = Table(("id",), (DUE,))
PENDING = {"id": {"S": "a"}, "due_shard": {"N": "1"}, "due_at": {"S": "12:00"}}
CLOSED = {"id": {"S": "a"}, "due_at": {"S": "12:00"}}


@pytest.mark.parametrize(
    ("value", "size"),
    [
        ({"S": "stretch"}, 7),
        ({"S": "Zürich"}, 7),  # bytes of UTF-8, not characters
        ({"N": "7"}, 2),
        ({"N": "123456789"}, 6),
        ({"N": "1773923400"}, 5),  # zeros at the end are no significant digits
        ({"N": "-12"}, 3),
        ({"B": "AAAA"}, 3),
        ({"BOOL": False}, 1),
        ({"NULL": True}, 1),
        ({"L": []}, 3),
        ({"L": [{"S": "ab"}, {"BOOL": True}]}, 3 + (2 + 1) + (1 + 1)),
        ({"M": {"key": {"S": "ab"}}}, 3 + (3 + 2 + 1)),
        ({"SS": ["ab", "cde"]}, 5),
    ],
)
def test_a_value_has_its_documented_size(value: dict[str, Any], size: int) -> None:
    assert value_size(value) == size


def test_an_item_has_the_size_of_its_names_and_values() -> None:
    assert item_size({"id": {"S": "a1b2c3d4"}, "version": {"N": "3"}}) == 2 + 8 + 7 + 2


def test_an_unknown_attribute_type_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown DynamoDB type X"):
        value_size({"X": "?"})


@pytest.mark.parametrize(("size", "units"), [(0, 1), (1, 1), (1024, 1), (1025, 2), (4096, 4)])
def test_writes_are_rounded_up_to_a_kilobyte(size: int, units: int) -> None:
    assert write_units(size) == units


@pytest.mark.parametrize(("size", "units"), [(0, 1), (4096, 1), (4097, 2)])
def test_reads_are_rounded_up_to_four_kilobytes_and_halved_if_eventually_consistent(
    size: int, units: int
) -> None:
    assert read_units(size, is_consistent=True) == units
    assert read_units(size, is_consistent=False) == units / 2


def test_an_empty_page_costs_half_a_unit() -> None:
    assert page_units([], is_consistent=False) == 0.5


def test_a_page_is_rounded_up_as_a_whole() -> None:
    thousand_bytes = {"text": {"S": "x" * 996}}

    assert page_units([thousand_bytes] * 4, is_consistent=False) == 0.5
    assert page_units([thousand_bytes] * 5, is_consistent=False) == 1


@pytest.mark.parametrize(
    ("old", "new", "units"),
    [
        (None, PENDING, 1),
        (None, CLOSED, 0),
        (PENDING, CLOSED, 1),
        (PENDING, None, 1),
        (PENDING, {**PENDING, "status": {"S": "in_progress"}}, 0),
        (PENDING, {**PENDING, "due_at": {"S": "12:02"}}, 2),
        (CLOSED, {**CLOSED, "due_at": {"S": "12:02"}}, 0),
    ],
    ids=["enters", "never in", "leaves", "deleted", "untouched", "key moves", "stays out"],
)
def test_an_index_costs_its_changed_entries(old: Any, new: Any, units: int) -> None:
    assert DUE.units(old, new) == units


def test_a_projected_attribute_that_changes_costs_one_put() -> None:
    everything = Index("All", ("due_shard",), None)

    assert everything.units(PENDING, {**PENDING, "status": {"S": "pending"}}) == 1


def test_a_write_costs_the_larger_of_old_and_new_item() -> None:
    large = {"id": {"S": "a"}, "text": {"S": "x" * 2000}}
    small = {"id": {"S": "a"}}

    assert TABLE.units(large, small) == TABLE.units(small, large) == 2


def test_a_transaction_doubles_the_table_but_not_its_indexes() -> None:
    assert TABLE.units(None, PENDING) == 1 + 1
    assert TABLE.units(None, PENDING, is_transaction=True) == 2 + 1
    assert TABLE.index_units(None, PENDING) == {"DueIndex": 1}
    assert TABLE.index_units(PENDING, PENDING) == {}


def test_a_refused_write_costs_the_stored_item() -> None:
    assert TABLE.units(PENDING, PENDING) == 1
    assert TABLE.units(None, None) == 1


def test_the_templates_indexes_are_read_with_the_tables_key() -> None:
    tasks = table_from_template(
        resources_of_type(load_template(), "AWS::DynamoDB::Table")["TasksTable"]
    )

    assert tasks.key == ("short_id", "id")
    due = next(index for index in tasks.indexes if index.name == "DueIndex")
    assert due.projected == frozenset({"due_shard", "due_at", "short_id", "id"})
