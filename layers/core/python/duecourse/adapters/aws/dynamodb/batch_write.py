"""Put or delete many items with few requests: 25 items each, the most that DynamoDB accepts."""

from __future__ import annotations

from collections.abc import Sequence

from pynamodb.models import Model

from duecourse.adapters.aws.dynamodb.raw_items import put_batch_stored

MAX_ITEMS = 25


def put_all(items: Sequence[Model]) -> None:
    """Put the items of one table. Of two items with the same key, the last one is put.

    Raises if some could not be written, with an unknown part of them written.
    """
    latest = list({_key_of(item): item for item in items}.values())
    for start in range(0, len(latest), MAX_ITEMS):
        _put_some(latest[start : start + MAX_ITEMS])


def _put_some(items: Sequence[Model]) -> None:
    model = type(items[0])
    if put_batch_stored(model, [item.serialize() for item in items]):
        return
    # DynamoDB was busy. PynamoDB puts what it leaves out again, with pauses.
    with model.batch_write() as batch:
        for item in items:
            batch.save(item)


def delete_all(items: Sequence[Model]) -> None:
    """Delete the items of one table. Raises if some could not be deleted."""
    if not items:
        return
    with type(items[0]).batch_write() as batch:
        for item in items:
            batch.delete(item)


def _key_of(item: Model) -> tuple[object, ...]:
    names = (item._hash_keyname, item._range_keyname)
    return tuple(getattr(item, name) for name in names if name)
