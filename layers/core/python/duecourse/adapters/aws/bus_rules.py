"""The rules of the event bus, read at most every few seconds."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from duecourse.domain.events.rule_patterns import EVERYTHING, MatchableTypes, matchable_types

if TYPE_CHECKING:
    from types_boto3_events.client import EventBridgeClient
    from types_boto3_events.type_defs import RuleTypeDef

    from duecourse.ports.runtime import Clock

CACHE_TTL = timedelta(seconds=10)  # a rule added later gets the events from then on
DISABLED = "DISABLED"


class BusRules:
    def __init__(self, client: EventBridgeClient, bus: str, clock: Clock) -> None:
        self._client = client
        self._bus = bus
        self._clock = clock
        self._cached: tuple[MatchableTypes, datetime] | None = None

    def matchable_types(self) -> MatchableTypes:
        """Return what the rules can match; everything if they cannot be listed."""
        now = self._clock.now()
        if self._cached is None or abs(now - self._cached[1]) >= CACHE_TTL:
            self._cached = (self._read(), now)
        return self._cached[0]

    def _read(self) -> MatchableTypes:
        try:
            rules = list(self._list_rules())
        except Exception:  # noqa: BLE001 - for whatever reason: an event too many does no harm
            return EVERYTHING
        enabled = (rule for rule in rules if rule.get("State") != DISABLED)
        return matchable_types(rule.get("EventPattern") for rule in enabled)

    def _list_rules(self) -> Iterator[RuleTypeDef]:
        page = self._client.list_rules(EventBusName=self._bus)
        yield from page["Rules"]
        while token := page.get("NextToken"):
            page = self._client.list_rules(EventBusName=self._bus, NextToken=token)
            yield from page["Rules"]
