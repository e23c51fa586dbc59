"""Long attributes of a task are packed into one, and read as they were."""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any

import pytest
from duecourse.adapters.aws.dynamodb.models import TaskItem
from duecourse.adapters.aws.dynamodb.packed_attributes import item_size, pack, unpack
from duecourse.adapters.aws.dynamodb.task_mapper import to_task
from duecourse.domain.errors import UnreadableItemError

from tests.unit.adapters.aws.dynamodb.test_task_mapper import EVERY_FIELD, stored_item

SCHEMA = {"schema_version": {"N": "1"}}
ERROR = "Traceback (most recent call last): " + "the connection was reset; " * 35
FAILED: dict[str, Any] = SCHEMA | {
    "id": {"S": "0a1b2c3d-0000-4000-8000-000000000000"},
    "status": {"S": "pending"},
    "retry_count": {"N": "1"},
    "description": {"S": "Put the report into the földer"},
    "payload": {"S": json.dumps({"provider": "openai", "n": [1, 2.5, None, "ä"]})},
    "last_error": {"S": ERROR},
    "guidance": {"L": [{"S": "Retry without changes"}, {"S": "ü"}]},
    "run": {"S": json.dumps({"id": "run-1", "error": ERROR})},
}
# Written by the first version that packed. It must stay readable.
STORED = "ePlHzmYYq0YreopLgD5JzlBCTbJAtq4hqcmyFrWAdQJVJhmpQDsBB6AnxA=="


def test_an_item_of_up_to_a_kilobyte_is_stored_as_it_is() -> None:
    small = {**FAILED, "last_error": {"S": "x"}, "run": {"S": "{}"}}
    assert item_size(small) <= 1024
    assert pack(small) is small


def test_a_larger_item_is_packed_and_needs_fewer_units() -> None:
    packed = pack(FAILED)

    assert item_size(FAILED) > 2048
    assert item_size(packed) < 1024
    assert packed["schema_version"] == {"N": "2"}
    assert "run" not in packed
    assert packed["retry_count"] == FAILED["retry_count"]


def test_an_item_that_would_need_as_many_units_is_stored_as_it_is() -> None:
    long_keys = SCHEMA | {"sender_id": {"S": "x" * 1100}, "description": {"S": "ab" * 100}}
    assert pack(long_keys) is long_keys


def test_an_item_is_unpacked_as_it_was() -> None:
    assert unpack(pack(FAILED)) | SCHEMA == FAILED


def test_an_item_of_a_stream_record_has_its_bytes_as_base64() -> None:
    packed = pack(FAILED)
    packed["packed"] = {"B": base64.b64encode(packed["packed"]["B"]).decode()}

    assert unpack(packed) | SCHEMA == FAILED


def test_an_attribute_beside_the_packed_ones_counts() -> None:
    """A claim sets `run` of a task without writing the whole item."""
    newer = pack(FAILED) | {"run": {"S": "{}"}}

    assert unpack(newer)["run"] == {"S": "{}"}


@pytest.mark.parametrize(
    "packed",
    [b"", b"no zlib", zlib.compress(b"{}"), pack(FAILED)["packed"]["B"][:-5], zlib.compress(b"[]")],
    ids=["empty", "other bytes", "another dictionary", "cut off", "no object"],
)
def test_a_task_that_cannot_be_unpacked_is_unreadable(packed: bytes) -> None:
    item = TaskItem.from_raw_data({**stored_item(EVERY_FIELD), "packed": {"B": packed}})

    with pytest.raises(UnreadableItemError):
        to_task(item)


def test_a_packed_task_that_unpacks_without_end_is_unreadable() -> None:
    bomb = zlib.compress(b"0" * 5_000_000)

    with pytest.raises(UnreadableItemError):
        to_task(TaskItem.from_raw_data({**stored_item(EVERY_FIELD), "packed": {"B": bomb}}))


def test_what_the_first_version_packed_is_still_read() -> None:
    assert unpack({"packed": {"B": STORED}}) == {
        "description": {"S": "stretch"},
        "run": {"S": '{"id": "run-1", "phase": "mutating", "status": "paused:transient"}'},
        "guidance": {"L": [{"S": "Breathe"}]},
    }


def test_tasks_are_not_packed_while_a_rollback_must_be_possible(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(TaskItem, "is_packed", False)

    stored = stored_item(EVERY_FIELD)

    assert "packed" not in stored
    assert stored["schema_version"] == {"N": "1"}


def test_an_item_that_might_not_be_unpacked_again_is_stored_as_it_is() -> None:
    huge = SCHEMA | {"description": {"S": "\x00" * 1_000_001}}
    assert pack(huge) is huge
    large = SCHEMA | {"description": {"S": "\x00" * 900_000}}
    assert unpack(pack(large)) | SCHEMA == large
