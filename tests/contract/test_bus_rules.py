"""The rules of the event bus: read every few seconds, and everything matches if that fails."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from botocore.stub import Stubber
from duecourse.adapters.aws.bus_rules import CACHE_TTL, BusRules
from duecourse.domain.events.rule_patterns import EVERYTHING, MatchableTypes

from local.runtime.call_interceptor import CallInterceptor, attribute_calls_to
from local.runtime.template import Resolver
from tests.support.builders.moments import MILLISECOND, NOW
from tests.support.fakes.clock import ManualClock

if TYPE_CHECKING:
    from types_boto3_events.client import EventBridgeClient

BUS = "duecourse"
NOTHING = MatchableTypes(frozenset())


@pytest.fixture
def client(aws: Resolver) -> Iterator[EventBridgeClient]:  # noqa: ARG001 - its region and bus
    client: EventBridgeClient = boto3.client("events")
    yield client
    for rule in client.list_rules(EventBusName=BUS)["Rules"]:
        client.delete_rule(Name=rule["Name"], EventBusName=BUS)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(NOW)


@pytest.fixture
def rules(client: EventBridgeClient, clock: ManualClock) -> BusRules:
    return BusRules(client, BUS, clock)


def put_rule(client: EventBridgeClient, name: str, **fields: Any) -> None:
    client.put_rule(Name=name, EventBusName=BUS, EventPattern=json.dumps(fields))


def test_without_a_rule_nothing_matches(rules: BusRules) -> None:
    assert rules.matchable_types() == NOTHING


def test_the_types_of_all_rules_match(rules: BusRules, client: EventBridgeClient) -> None:
    put_rule(client, "one", **{"detail-type": ["task:failed"]})
    put_rule(client, "two", **{"source": ["duecourse"], "detail-type": ["task:created"]})
    assert rules.matchable_types() == MatchableTypes(frozenset({"task:failed", "task:created"}))


def test_a_disabled_rule_matches_nothing(rules: BusRules, client: EventBridgeClient) -> None:
    put_rule(client, "one", source=["duecourse"])
    client.disable_rule(Name="one", EventBusName=BUS)
    assert rules.matchable_types() == NOTHING


def test_a_rule_of_another_bus_matches_nothing(rules: BusRules, client: EventBridgeClient) -> None:
    client.put_rule(Name="one", EventPattern=json.dumps({"source": ["duecourse"]}))
    assert rules.matchable_types() == NOTHING
    client.delete_rule(Name="one")


def test_a_rule_added_later_counts_after_a_few_seconds(
    rules: BusRules, client: EventBridgeClient, clock: ManualClock, calls: CallInterceptor
) -> None:
    with attribute_calls_to("me"):
        assert rules.matchable_types() == NOTHING
        put_rule(client, "one", source=["duecourse"])
        clock.at = NOW + CACHE_TTL - MILLISECOND
        assert rules.matchable_types() == NOTHING
        clock.at = NOW + CACHE_TTL
        assert rules.matchable_types() == EVERYTHING
    assert calls.counts["me", "events.ListRules"] == 2


def test_all_pages_are_read(rules: BusRules, client: EventBridgeClient) -> None:
    pages: list[dict[str, Any]] = [
        {"Rules": [{"Name": "one", "EventPattern": '{"detail-type": ["task:failed"]}'}]},
        {"Rules": [{"Name": "two", "EventPattern": '{"detail-type": ["task:created"]}'}]},
    ]
    with Stubber(client) as stubber:
        stubber.add_response("list_rules", {**pages[0], "NextToken": "more"})
        parameters = {"EventBusName": BUS, "NextToken": "more"}
        stubber.add_response("list_rules", pages[1], parameters)
        found = rules.matchable_types()
    assert found == MatchableTypes(frozenset({"task:failed", "task:created"}))


def test_everything_matches_while_the_rules_cannot_be_listed(
    rules: BusRules, client: EventBridgeClient, clock: ManualClock
) -> None:
    with Stubber(client) as stubber:
        stubber.add_client_error("list_rules", "AccessDeniedException", http_status_code=400)
        assert rules.matchable_types() == EVERYTHING
    clock.at = NOW + CACHE_TTL
    assert rules.matchable_types() == NOTHING
