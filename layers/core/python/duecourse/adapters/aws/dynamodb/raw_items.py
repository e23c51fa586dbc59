"""Read and write single items as DynamoDB stores them, with errors as PynamoDB raises them.

For the hot paths: PynamoDB builds each request anew from generic parts, twice the work of a call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from botocore.exceptions import BotoCoreError, ClientError
from pynamodb.exceptions import DeleteError, GetError, PutError
from pynamodb.models import Model

if TYPE_CHECKING:
    from duecourse.adapters.aws.dynamodb.item_codec import Stored

Key = Mapping[str, Mapping[str, str]]
M = TypeVar("M", bound=Model)


def find_item(
    model: type[M], hash_key: str, range_key: str = "", *, is_consistent: bool = False
) -> M | None:
    """Return the item with these keys, which are texts, or None if there is none."""
    keys = {model._hash_keyname: hash_key, model._range_keyname: range_key}
    key = {name: {"S": text} for name, text in keys.items() if name is not None}
    stored = get_stored(model, key, is_consistent=is_consistent)
    return None if stored is None else model.from_raw_data(stored)


def get_stored(model: type[Model], key: Key, *, is_consistent: bool) -> Stored | None:
    """Return the item as it is stored, or None if there is none. Raises GetError."""
    request = {"TableName": model.Meta.table_name, "Key": key, "ConsistentRead": is_consistent}
    try:
        reply = client_of(model).get_item(**request)
    except (BotoCoreError, ClientError) as error:
        raise GetError(f"Failed to get item: {error}", error) from error
    found: Stored | None = reply.get("Item")
    return found


def put_stored(model: type[Model], item: Stored, condition: Mapping[str, Any]) -> None:
    """Put the item if `condition`, the request's parameters for it, holds. Raises PutError."""
    try:
        client_of(model).put_item(TableName=model.Meta.table_name, Item=item, **condition)
    except (BotoCoreError, ClientError) as error:
        raise PutError(f"Failed to put item: {error}", error) from error


def put_batch_stored(model: type[Model], items: Sequence[Stored]) -> bool:
    """Put up to 25 items with one request; False if DynamoDB left some out. Raises PutError."""
    table = model.Meta.table_name
    requests = [{"PutRequest": {"Item": item}} for item in items]
    try:
        reply = client_of(model).batch_write_item(RequestItems={table: requests})
    except (BotoCoreError, ClientError) as error:
        raise PutError(f"Failed to batch write items: {error}", error) from error
    return not reply.get("UnprocessedItems")


def delete_stored(model: type[Model], key: Key, condition: Mapping[str, Any]) -> None:
    """Delete the item if `condition`, the parameters for it, holds. Raises DeleteError."""
    try:
        client_of(model).delete_item(TableName=model.Meta.table_name, Key=key, **condition)
    except (BotoCoreError, ClientError) as error:
        raise DeleteError(f"Failed to delete item: {error}", error) from error


def client_of(model: type[Model]) -> Any:
    """Return the botocore client that the model uses."""
    return model._get_connection().connection.client
