"""How stored items are read: one that cannot be read is set aside, and the others are read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from duecourse.adapters.aws.dynamodb.journal_models import JournalItem
from duecourse.adapters.aws.dynamodb.models import StateItem, TaskItem
from duecourse.adapters.aws.dynamodb.stored_item import read_item, read_items
from duecourse.adapters.aws.dynamodb.tracking_models import SubjectItem, TrackerItem
from duecourse.adapters.runtime import unreadable_items
from duecourse.adapters.runtime.unreadable_items import reports_unreadable
from duecourse.domain.errors import UnreadableItemError

STATE = {"key": {"S": "profile#slack#U1"}, "value": {"S": "{}"}}


@pytest.fixture(autouse=True)
def clear_unreadable_items() -> Iterator[None]:
    unreadable_items._collected.clear()
    yield
    unreadable_items._collected.clear()


class Log:
    """Replaces the logger and the metrics of a function."""

    def __init__(self) -> None:
        self.lines: list[dict[str, Any]] = []
        self.counted: dict[str, float] = {}
        self.flushed: list[dict[str, float]] = []

    def error(self, msg: object, **fields: Any) -> None:
        self.lines.append({"message": msg, **fields})

    def warning(self, msg: object, **fields: Any) -> None:
        raise NotImplementedError

    def add_metric(self, name: str, unit: str, value: float) -> None:
        assert unit == "Count"
        self.counted[name] = value

    def flush_metrics(self) -> None:
        self.flushed.append(dict(self.counted))


def read_value(item: StateItem) -> Any:
    return item.value


@pytest.mark.parametrize("model", [TaskItem, JournalItem, StateItem, SubjectItem, TrackerItem])
def test_every_item_is_written_with_its_schema(model: type[TaskItem]) -> None:
    assert model("key").serialize(null_check=False)["schema_version"] == {"N": "1"}


def test_an_item_without_a_schema_is_rewritten_without_one() -> None:
    assert StateItem.from_raw_data(STATE).schema_version is None


@pytest.mark.parametrize(
    ("attributes", "reason"),
    [
        ({"value": {"S": "{"}}, "its attribute `value` cannot be read"),
        ({"version": {"S": "a secret"}}, "its attribute `version` cannot be read"),
        ({"schema_version": {"N": "2"}}, "it was written by a newer version"),
        ({"schema_version": {"N": "2"}, "value": {"S": "{"}}, "it was written by a newer version"),
    ],
)
def test_the_error_for_an_unreadable_item_has_its_key_and_the_reason(
    attributes: Any, reason: str
) -> None:
    item = StateItem.from_raw_data(STATE | attributes)
    with pytest.raises(UnreadableItemError) as caught:
        read_item(item, read_value)
    assert (caught.value.item, caught.value.reason) == ("state profile", reason)


def test_a_reader_error_makes_the_item_unreadable_and_quotes_no_value() -> None:
    def fail(_item: StateItem) -> None:
        raise ValueError("a secret")

    with pytest.raises(UnreadableItemError) as caught:
        read_item(StateItem.from_raw_data(STATE), fail)
    assert caught.value.reason == "ValueError while it was read"
    assert (caught.value.__cause__, caught.value.__suppress_context__) == (None, True)


def test_unreadable_items_are_reported_once_and_the_others_are_read() -> None:
    broken = StateItem.from_raw_data({"key": {"S": "a#1"}, "value": {"S": "{"}})
    items = [StateItem.from_raw_data(STATE), broken, broken, StateItem.from_raw_data(STATE)]
    log = Log()

    @reports_unreadable(log, log)
    def handler(_event: Any, _context: Any) -> list[Any]:
        return list(read_items(items, read_value))

    assert handler({}, None) == [{}, {}]
    reason = "its attribute `value` cannot be read"
    assert log.lines == [{"message": "item_unreadable", "item": "state a", "reason": reason}]
    assert log.counted == {"ItemsUnreadable": 1}
    assert unreadable_items.unreadable_items() == []


def test_a_failing_function_reports_unreadable_items() -> None:
    log = Log()

    @reports_unreadable(log, log)
    def handler(_event: Any, _context: Any) -> Any:
        item = StateItem.from_raw_data(STATE | {"schema_version": {"N": "2"}})
        return read_item(item, read_value)

    with pytest.raises(UnreadableItemError):
        handler({}, None)
    assert [line["item"] for line in log.lines] == ["state profile"]


def test_without_unreadable_items_nothing_is_reported() -> None:
    log = Log()
    assert reports_unreadable(log, log)(lambda _event, _context: 7)({}, None) == 7
    assert (log.lines, log.counted) == ([], {})


@pytest.mark.parametrize("has_to_flush", [True, False])
def test_a_function_without_other_metrics_flushes_this_one(has_to_flush: bool) -> None:
    log = Log()
    decorate = reports_unreadable(log, log, has_to_flush=has_to_flush)
    decorate(lambda _event, _context: 7)({}, None)
    assert log.flushed == []

    broken = StateItem.from_raw_data(STATE | {"value": {"S": "{"}})
    decorate(lambda _event, _context: list(read_items([broken], read_value)))({}, None)
    assert log.flushed == ([{"ItemsUnreadable": 1}] if has_to_flush else [])
