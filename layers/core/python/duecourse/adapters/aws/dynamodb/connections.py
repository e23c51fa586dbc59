"""WebSocket connections to live events: one item each, in one partition, removed by their TTL."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from pynamodb.attributes import ListAttribute, NumberAttribute, UnicodeAttribute

from duecourse.adapters.aws.dynamodb import models
from duecourse.adapters.aws.dynamodb.conditions import update_if
from duecourse.adapters.aws.dynamodb.stored_item import StoredItem, read_items
from duecourse.domain.access.scope import Scope
from duecourse.domain.events.connection import SUBSCRIPTION_FIELDS, Connection, Subscription
from duecourse.domain.time.instant import from_text, to_text

PARTITION = "all"


class ConnectionItem(StoredItem):
    """Holds only the hash of the token.

    `expires_at` is in seconds, because it is the TTL attribute.
    """

    kind = "connection"

    class Meta(models.Connection):
        table_name = "connections"

    room = UnicodeAttribute(hash_key=True)
    id = UnicodeAttribute(range_key=True)
    token_name = UnicodeAttribute()
    token_sha256 = UnicodeAttribute()
    scope = UnicodeAttribute()
    connected_at = UnicodeAttribute()
    expires_at = NumberAttribute()
    types: ListAttribute[str] = ListAttribute(null=True)
    task_id = UnicodeAttribute(null=True)
    channel = UnicodeAttribute(null=True)
    sender_id = UnicodeAttribute(null=True)


def bind_connections_table(*, connections: str) -> None:
    ConnectionItem.Meta.table_name = connections


class DynamoConnections:
    def add(self, connection: Connection) -> None:
        ConnectionItem(
            PARTITION,
            connection.id,
            token_name=connection.token_name,
            token_sha256=connection.token_sha256,
            scope=str(connection.scope),
            connected_at=to_text(connection.connected_at),
            expires_at=int(connection.expires_at.timestamp()),
            **connection.subscription.to_json(),
        ).save()

    def update_subscription(self, connection_id: str, subscription: Subscription) -> bool:
        values = subscription.to_json()
        attributes = {name: getattr(ConnectionItem, name) for name in SUBSCRIPTION_FIELDS}
        actions = [
            attribute.set(values[name]) if name in values else attribute.remove()
            for name, attribute in attributes.items()
        ]
        item = ConnectionItem(PARTITION, connection_id)
        return update_if(item, actions, condition=ConnectionItem.id.exists())

    def remove(self, connection_id: str) -> None:
        ConnectionItem(PARTITION, connection_id).delete()

    def list_all(self) -> Sequence[Connection]:
        found = ConnectionItem.query(PARTITION)
        return list(read_items(found, _to_connection))


def _to_connection(item: ConnectionItem) -> Connection:
    return Connection(
        id=item.id,
        token_name=item.token_name,
        token_sha256=item.token_sha256,
        scope=Scope(item.scope),
        connected_at=from_text(item.connected_at),
        expires_at=datetime.fromtimestamp(int(item.expires_at), tz=UTC),
        subscription=Subscription(
            types=tuple(item.types or ()),
            task_id=item.task_id,
            channel=item.channel,
            sender_id=item.sender_id,
        ),
    )
