"""The stream of a table: one shard, with records in the order of the writes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from local.testing.lean_aws.values import Item, encode_binary

SHARD_ID = "shardId-00000001541626099285-f35f62ef"
FIRST_SEQUENCE_NUMBER = 1100000000017454423009


@dataclass
class Stream:
    """`now` returns seconds since the epoch. `region` is part of every record."""

    arn: str
    view_type: str
    region: str
    now: Callable[[], float]
    records: list[dict[str, Any]] = field(default_factory=list)
    _written: int = 0

    def add(self, keys: Item, old: Item | None, new: Item | None) -> None:
        sequence_number = str(FIRST_SEQUENCE_NUMBER + self._written)
        self._written += 1
        change: dict[str, Any] = {
            "ApproximateCreationDateTime": self.now(),
            "Keys": _to_image(keys),
            "SequenceNumber": sequence_number,
            "SizeBytes": 1,
            "StreamViewType": self.view_type,
        }
        if new is not None and self.view_type in ("NEW_IMAGE", "NEW_AND_OLD_IMAGES"):
            change["NewImage"] = _to_image(new)
        if old is not None and self.view_type in ("OLD_IMAGE", "NEW_AND_OLD_IMAGES"):
            change["OldImage"] = _to_image(old)
        self.records.append(
            {
                "eventID": f"event-{sequence_number}",
                "eventName": "INSERT" if old is None else "REMOVE" if new is None else "MODIFY",
                "eventSource": "aws:dynamodb",
                "eventVersion": "1.1",
                "awsRegion": self.region,
                "dynamodb": change,
            }
        )


def _to_image(item: Item) -> Item:
    return {name: encode_binary(value) for name, value in item.items()}
