"""How many connections one token may have."""

from __future__ import annotations

from dataclasses import replace

import pytest
from duecourse.domain.access.scope import Scope
from duecourse.domain.access.tokens import ApiToken, find_token, hash_secret
from duecourse.domain.events.connection import (
    MAX_CONNECTION_TIME,
    MAX_CONNECTIONS_PER_TOKEN,
    Connection,
    create_connection,
)
from duecourse.domain.events.handshake import ConnectRequest, TooManyConnectionsError
from duecourse.usecases.events.connect import connect

from tests.support.builders.moments import NOW
from tests.support.fakes.chat import MemoryConnections

CI = ApiToken("ci", Scope.READ, hash_secret("ci"))
OPS = ApiToken("ops", Scope.READ, hash_secret("ops"))


class Tokens:
    def find(self, secret: str) -> ApiToken | None:
        return find_token([CI, OPS], secret, now=NOW)

    def find_by_hash(self, sha256: str) -> ApiToken | None:
        raise NotImplementedError


def connect_with(secret: str, connections: MemoryConnections, name: str = "new") -> Connection:
    request = ConnectRequest(name, "x.example", {"authorization": f"Bearer {secret}"}, {})
    return connect(request, connections=connections, tokens=Tokens(), allowed_origins=(), now=NOW)


def full_room() -> MemoryConnections:
    connections = MemoryConnections()
    for n in range(MAX_CONNECTIONS_PER_TOKEN):
        connect_with("ci", connections, f"c-{n}")
    return connections


def test_a_token_may_have_a_number_of_connections_and_no_more() -> None:
    connections = full_room()
    with pytest.raises(TooManyConnectionsError) as refused:
        connect_with("ci", connections)
    assert str(refused.value) == (
        "the token ci has 50 open connections, the most that one may have: "
        "close some, or use another token"
    )
    assert len(connections.list_all()) == MAX_CONNECTIONS_PER_TOKEN


def test_another_token_still_connects() -> None:
    assert connect_with("ops", full_room()).token_name == "ops"


def test_a_closed_connection_makes_room() -> None:
    connections = full_room()
    connections.remove("c-7")
    assert connect_with("ci", connections).id == "new"


def test_an_expired_connection_does_not_count() -> None:
    connections = full_room()
    old = create_connection("c-7", CI, now=NOW - MAX_CONNECTION_TIME)
    connections.add(replace(old, id="c-7"))
    assert connect_with("ci", connections).id == "new"


def test_a_repeated_request_for_the_same_connection_does_not_count_it() -> None:
    assert connect_with("ci", full_room(), "c-7").id == "c-7"
