"""Where DynamoDB counts units: a place is a table or an index, and a partition has one key."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Place:
    """A kind of item in a table, or in one of its indexes. `index` is empty for the table."""

    table: str
    index: str
    kind: str

    @property
    def label(self) -> str:
        return self.index or self.kind


@dataclass(frozen=True)
class Partition:
    """One partition key of a place. `key` is empty if a read found nothing that names it."""

    place: Place
    key: str


def sum_by_place(units: Mapping[Partition, float]) -> dict[Place, float]:
    found: dict[Place, float] = {}
    for partition, used in units.items():
        found[partition.place] = found.get(partition.place, 0) + used
    return found


def largest_shares(units: Iterable[Mapping[Partition, float]]) -> dict[Place, float]:
    """Return which part of each place's units the partition has that gets the most."""
    merged: dict[Partition, float] = {}
    for one in units:
        for partition, used in one.items():
            merged[partition] = merged.get(partition, 0) + used
    totals = sum_by_place(merged)
    shares: dict[Place, float] = {}
    for partition, used in merged.items():
        share = used / totals[partition.place]
        shares[partition.place] = max(share, shares.get(partition.place, 0))
    return shares
