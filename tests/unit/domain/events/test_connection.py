"""Who listens, until when, and what they want to hear of."""

from __future__ import annotations

from typing import Any

import pytest
from duecourse.domain.access.scope import Scope
from duecourse.domain.access.tokens import ApiToken
from duecourse.domain.events.connection import MAX_CONNECTION_TIME, Subscription, create_connection
from duecourse.domain.events.event import LiveEvent
from duecourse.domain.tasks.event import EventType
from duecourse.domain.tasks.owner import Owner

from tests.support.builders.moments import HOUR, MILLISECOND, NOW
from tests.support.builders.tasks import ID


def an_event(kind: str = "task:failed", **fields: Any) -> LiveEvent:
    owner = Owner("console", "ada")
    return LiveEvent(
        **{"id": "1", "type": EventType(kind), "task_id": ID, "at": NOW, "owner": owner, **fields}
    )


def a_token(**fields: Any) -> ApiToken:
    return ApiToken(**{"name": "ci", "scope": Scope.READ, "sha256": "ab" * 32, **fields})


@pytest.mark.parametrize(
    ("wanted", "is_heard"),
    [
        ({}, True),
        ({"types": ("task:failed",)}, True),
        ({"types": ("task:created", "task:failed")}, True),
        ({"types": ("task:",)}, True),
        ({"types": ("task:created",)}, False),
        ({"types": ("breaker:",)}, False),
        ({"task_id": ID}, True),
        ({"task_id": ID[:8]}, True),
        ({"task_id": "99999999"}, False),
        ({"channel": "console"}, True),
        ({"channel": "slack"}, False),
        ({"sender_id": "ada"}, True),
        ({"sender_id": "bob"}, False),
        ({"types": ("task:",), "channel": "console", "sender_id": "bob"}, False),
    ],
)
def test_an_event_is_heard_if_all_that_was_asked_for_fits(
    wanted: dict[str, Any], is_heard: bool
) -> None:
    assert Subscription(**wanted).matches(an_event()) is is_heard


def test_what_is_about_nobodys_task_is_heard_by_those_who_ask_for_nobodys() -> None:
    event = an_event("breaker:opened", task_id="breaker#openai", owner=None)
    assert Subscription().matches(event)
    assert not Subscription(channel="console").matches(event)
    assert not Subscription(sender_id="ada").matches(event)


def test_a_connection_lasts_two_hours_or_as_long_as_its_token() -> None:
    assert create_connection("c", a_token(), now=NOW).expires_at == NOW + MAX_CONNECTION_TIME
    for ends, expected in [(HOUR, HOUR), (3 * HOUR, 2 * HOUR)]:
        connection = create_connection("c", a_token(expires_at=NOW + ends), now=NOW)
        assert connection.expires_at == NOW + expected
        assert not connection.has_expired(NOW + expected - MILLISECOND)
        assert connection.has_expired(NOW + expected)


def test_nothing_of_the_token_is_kept_but_its_name_its_scope_and_its_hash() -> None:
    connection = create_connection("c", a_token(), now=NOW)
    assert (connection.token_name, connection.scope) == ("ci", "read")
    assert (connection.token_sha256, connection.can_listen) == ("ab" * 32, True)
