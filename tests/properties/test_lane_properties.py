"""Partitions of the due index: every task has one, every partition is read, and none is shared."""

from __future__ import annotations

from duecourse.domain.dispatch.lanes import (
    DUE_LANES,
    Lane,
    lane_of_partition,
    partition_of,
    partitions_of,
    shard_of_partition,
)
from hypothesis import given
from hypothesis import strategies as st

lanes = st.sampled_from(list(Lane))
shard_counts = st.integers(1, 64)
shards = st.integers(0, 63)


@given(lanes, shards, shard_counts)
def test_a_partition_tells_its_lane(lane: Lane, shard: int, shard_count: int) -> None:
    assert lane_of_partition(partition_of(lane, shard, shard_count)) is lane


@given(lanes, shards, shard_counts)
def test_every_task_is_in_a_listed_partition(lane: Lane, shard: int, shard_count: int) -> None:
    shard %= shard_count
    assert partition_of(lane, shard, shard_count) in partitions_of([lane], shard_count)


@given(lanes, shard_counts)
def test_every_listed_partition_can_hold_a_task(lane: Lane, shard_count: int) -> None:
    used = {partition_of(lane, shard, shard_count) for shard in range(shard_count)}
    assert used == set(partitions_of([lane], shard_count))


@given(shard_counts)
def test_no_two_lanes_share_a_partition(shard_count: int) -> None:
    partitions = partitions_of(Lane, shard_count)
    assert len(partitions) == len(set(partitions))


@given(shard_counts, shard_counts)
def test_a_higher_shard_count_only_adds_partitions(one: int, other: int) -> None:
    fewer, more = sorted((one, other))
    assert set(partitions_of(Lane, fewer)) <= set(partitions_of(Lane, more))


@given(shards)
def test_a_shard_of_code_before_lanes_is_the_partition_of_new_reminders(shard: int) -> None:
    assert lane_of_partition(shard) is Lane.NEW_REMINDER
    assert shard_of_partition(shard) == shard
    assert shard in partitions_of(DUE_LANES, 64)


@given(st.integers(max(Lane) + 1, 1_000), shards)
def test_a_lane_of_newer_code_is_unknown_and_keeps_its_shard(number: int, shard: int) -> None:
    partition = number * 1000 + shard
    assert (lane_of_partition(partition), shard_of_partition(partition)) == (None, shard)


@given(st.integers(max_value=-1))
def test_partitions_of_blocked_tasks_have_no_lane(partition: int) -> None:
    assert lane_of_partition(partition) is None
