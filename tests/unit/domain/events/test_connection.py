"""Live connections: their subscriptions, expiry and token."""

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


def an_event(event_type: str = "task:failed", **fields: Any) -> LiveEvent:
    owner = Owner("console", "ada")
    return LiveEvent(
        **{
            "id": "1",
            "type": EventType(event_type),
            "task_id": ID,
            "at": NOW,
            "owner": owner,
            **fields,
        }
    )


def a_token(**fields: Any) -> ApiToken:
    return ApiToken(**{"name": "ci", "scope": Scope.READ, "sha256": "ab" * 32, **fields})


@pytest.mark.parametrize(
    ("filters", "is_matched"),
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
def test_a_subscription_matches_if_all_its_filters_match(
    filters: dict[str, Any], is_matched: bool
) -> None:
    assert Subscription(**filters).matches(an_event()) is is_matched


def test_an_event_without_an_owner_matches_only_without_owner_filters() -> None:
    event = an_event("breaker:opened", task_id="breaker#openai", owner=None)
    assert Subscription().matches(event)
    assert not Subscription(channel="console").matches(event)
    assert not Subscription(sender_id="ada").matches(event)


def test_a_connection_lasts_two_hours_or_as_long_as_its_token() -> None:
    assert create_connection("c", a_token(), now=NOW).expires_at == NOW + MAX_CONNECTION_TIME
    for token_lifetime, expected in [(HOUR, HOUR), (3 * HOUR, 2 * HOUR)]:
        connection = create_connection("c", a_token(expires_at=NOW + token_lifetime), now=NOW)
        assert connection.expires_at == NOW + expected
        assert not connection.has_expired(NOW + expected - MILLISECOND)
        assert connection.has_expired(NOW + expected)


def test_a_connection_keeps_only_name_scope_and_hash_of_its_token() -> None:
    connection = create_connection("c", a_token(), now=NOW)
    assert (connection.token_name, connection.scope) == ("ci", "read")
    assert (connection.token_sha256, connection.can_listen) == ("ab" * 32, True)
