"""Who listens to live events, in the connections table."""

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

EVERYTHING = Subscription(types=("task:", "budget:exceeded"), task_id="0a1b2c3d")
ALL_OF_IT = replace(EVERYTHING, channel="slack", sender_id="U1")


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


@pytest.mark.parametrize("wanted", [Subscription(), EVERYTHING, ALL_OF_IT])
def test_a_connection_is_kept_as_it_is(connections: Connections, wanted: Subscription) -> None:
    kept = replace(a_connection(), subscription=wanted)
    connections.add(kept)
    assert connections.list_all() == [kept]


def test_what_it_hears_is_replaced_as_a_whole(connections: Connections) -> None:
    connections.add(a_connection())
    for wanted in (ALL_OF_IT, Subscription(channel="slack"), Subscription()):
        assert connections.update_subscription(a_connection().id, wanted)
        assert [one.subscription for one in connections.list_all()] == [wanted]


def test_one_that_is_not_known_is_not_changed_into_being(connections: Connections) -> None:
    assert not connections.update_subscription("gone", ALL_OF_IT)
    assert connections.list_all() == []


def test_what_could_not_be_written_is_told(
    dynamo: DynamoConnections, calls: CallInterceptor, faults: Faults
) -> None:
    del calls
    faults.add(Fault("dynamodb.UpdateItem", kind="error", times=100))
    with attribute_calls_to("live"), pytest.raises(UpdateError):
        dynamo.update_subscription("any", ALL_OF_IT)


def test_it_is_removed_once_and_again(connections: Connections) -> None:
    connections.add(a_connection("a"))
    connections.add(a_connection("b"))
    for _ in range(2):
        connections.remove("a")
        assert [one.id for one in connections.list_all()] == ["b"]


def test_it_goes_by_itself_when_it_has_expired(dynamo: DynamoConnections) -> None:
    dynamo.add(a_connection())
    [item] = ConnectionItem.scan()
    assert item.expires_at == int((NOW + 2 * HOUR).timestamp())
