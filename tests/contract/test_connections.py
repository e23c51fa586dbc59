"""WebSocket connections and their subscriptions, in the connections table."""

from __future__ import annotations

from dataclasses import replace

import pytest
from duecourse.adapters.aws.dynamodb.connections import (
    ConnectionItem,
    DynamoConnections,
    bind_connections_table,
)
from duecourse.domain.events.connection import Connection, Subscription, create_connection
from duecourse.ports.chat import Connections
from pynamodb.exceptions import UpdateError

from local.runtime.call_interceptor import CallInterceptor, attribute_calls_to
from local.runtime.template import Resolver
from local.testing.faults import Fault, Faults
from tests.support.builders.moments import HOUR, NOW
from tests.support.fakes.chat import MemoryConnections
from tests.unit.domain.events.test_connection import a_token

TASK_SUBSCRIPTION = Subscription(types=("task:", "budget:exceeded"), task_id="0a1b2c3d")
FULL_SUBSCRIPTION = replace(TASK_SUBSCRIPTION, channel="slack", sender_id="U1")


@pytest.fixture
def dynamo(aws: Resolver) -> DynamoConnections:
    bind_connections_table(connections=aws.resolve({"Ref": "ConnectionsTable"}))
    with ConnectionItem.batch_write() as batch:
        for item in ConnectionItem.scan():
            batch.delete(item)
    return DynamoConnections()


@pytest.fixture(params=["dynamodb", "memory"])
def connections(request: pytest.FixtureRequest, dynamo: DynamoConnections) -> Connections:
    return dynamo if request.param == "dynamodb" else MemoryConnections()


def a_connection(name: str = "L0SM9cOFvHcCIhw=") -> Connection:
    return create_connection(name, a_token(), now=NOW)


@pytest.mark.parametrize("subscription", [Subscription(), TASK_SUBSCRIPTION, FULL_SUBSCRIPTION])
def test_a_connection_is_listed_as_it_was_added(
    connections: Connections, subscription: Subscription
) -> None:
    connection = replace(a_connection(), subscription=subscription)
    connections.add(connection)
    assert connections.list_all() == [connection]


def test_an_update_replaces_the_whole_subscription(connections: Connections) -> None:
    connections.add(a_connection())
    for subscription in (FULL_SUBSCRIPTION, Subscription(channel="slack"), Subscription()):
        assert connections.update_subscription(a_connection().id, subscription)
        assert [connection.subscription for connection in connections.list_all()] == [subscription]


def test_updating_an_unknown_connection_creates_none(connections: Connections) -> None:
    assert not connections.update_subscription("gone", FULL_SUBSCRIPTION)
    assert connections.list_all() == []


def test_a_failed_update_raises(
    dynamo: DynamoConnections, calls: CallInterceptor, faults: Faults
) -> None:
    del calls
    faults.add(Fault("dynamodb.UpdateItem", kind="error", times=100))
    with attribute_calls_to("live"), pytest.raises(UpdateError):
        dynamo.update_subscription("any", FULL_SUBSCRIPTION)


def test_removing_a_connection_is_idempotent(connections: Connections) -> None:
    connections.add(a_connection("a"))
    connections.add(a_connection("b"))
    for _ in range(2):
        connections.remove("a")
        assert [connection.id for connection in connections.list_all()] == ["b"]


def test_a_connection_expires_after_two_hours(dynamo: DynamoConnections) -> None:
    dynamo.add(a_connection())
    [item] = ConnectionItem.scan()
    assert item.expires_at == int((NOW + 2 * HOUR).timestamp())
