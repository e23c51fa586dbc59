"""Task ids, their prefixes and their shards."""

from __future__ import annotations

import uuid

import pytest
from duecourse.domain.tasks.ids import id_for_key, is_id_or_prefix, shard_of

from tests.support.builders.tasks import ID, a_task


@pytest.mark.parametrize("text", [ID[:8], ID[:9], ID[:20], ID])
def test_an_id_or_a_prefix_of_one_is_accepted(text: str) -> None:
    assert is_id_or_prefix(text)


@pytest.mark.parametrize(
    "text", ["", ID[:7], ID + "0", ID.upper(), "0a1b2c3g", "-a1b2c3d", "0a1b2c3d\n", "0a1b 2c3d"]
)
def test_other_text_is_not_an_id_or_prefix(text: str) -> None:
    assert not is_id_or_prefix(text)


def test_the_short_id_is_the_first_eight_characters() -> None:
    assert a_task(id=ID).short_id == "0a1b2c3d"


def test_the_same_key_gives_the_same_id() -> None:
    assert id_for_key("api", "order-7") == id_for_key("api", "order-7")


@pytest.mark.parametrize("other", [("api", "order-8"), ("slack", "order-7"), ("apio", "rder-7")])
def test_another_owner_or_key_gives_another_id(other: tuple[str, str]) -> None:
    assert id_for_key("api", "order-7") != id_for_key(*other)


@pytest.mark.parametrize("key", ["", "order-7", "ключ", "x" * 9999])
def test_an_id_for_a_key_is_a_version_4_uuid(key: str) -> None:
    task_id = id_for_key("api", key)
    assert (str(uuid.UUID(task_id)), uuid.UUID(task_id).version) == (task_id, 4)


def test_the_shard_follows_from_the_id() -> None:
    assert shard_of(ID, 4) == int("0a1b2c3d", 16) % 4


def test_keys_spread_over_all_shards() -> None:
    assert {shard_of(id_for_key("api", str(n)), 8) for n in range(200)} == set(range(8))
