"""The event bus on EventBridge: up to ten events per request, in order.

An event that no rule of the bus can match is not sent: it would cost money and go nowhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from duecourse.adapters.aws.sqs import to_body
from duecourse.domain.errors import PublishError
from duecourse.domain.events.event import LiveEvent
from duecourse.domain.events.rule_patterns import SOURCE

if TYPE_CHECKING:
    from types_boto3_events.client import EventBridgeClient
    from types_boto3_events.type_defs import (
        PutEventsRequestEntryTypeDef,
        PutEventsResultEntryTypeDef,
    )

    from duecourse.adapters.aws.bus_rules import BusRules
    from duecourse.ports.runtime import Backoff

MAX_BATCH_SIZE = 10
# EventBridge accepts 256 KB per request and adds overhead to each event.
MAX_REQUEST_BYTES = 250_000
MAX_ATTEMPTS = 4
_TRUNCATION_LENGTHS = (20_000, 2_000, 200)


class EventBridgeBus:
    def __init__(
        self, client: EventBridgeClient, name: str, rules: BusRules, *, backoff: Backoff
    ) -> None:
        self._client = client
        self._name = name
        self._rules = rules
        self._backoff = backoff

    def publish(self, events: Sequence[LiveEvent]) -> None:
        if not events:
            return
        matchable = self._rules.matchable_types()
        positions = [n for n, event in enumerate(events) if matchable.includes(event.type)]
        try:
            self._publish_all([events[n] for n in positions])
        except PublishError as error:
            # Events that no rule matches count as published.
            position = positions[error.published_count]
            raise PublishError(position, error.reason) from error.__cause__

    def _publish_all(self, events: Sequence[LiveEvent]) -> None:
        published = 0
        for request in _split_batches(self._to_entry(event) for event in events):
            self._put_with_retry(request, published_count=published)
            published += len(request)

    def _put_with_retry(
        self, entries: list[PutEventsRequestEntryTypeDef], *, published_count: int
    ) -> None:
        """Send `entries` in order, with retries. Raises PublishError.

        Entries after a rejected one may have been accepted out of order; they are sent again.
        """
        published, code = 0, ""
        for tries in range(1, MAX_ATTEMPTS + 1):
            more, code = self._put_once(
                entries[published:], published_count=published_count + published
            )
            published += more
            if published == len(entries):
                return
            if tries < MAX_ATTEMPTS:
                self._backoff(tries)
        raise PublishError(published_count + published, code)

    def _put_once(
        self, entries: list[PutEventsRequestEntryTypeDef], *, published_count: int
    ) -> tuple[int, str]:
        try:
            return _count_accepted(self._client.put_events(Entries=entries)["Entries"])
        except Exception as error:
            raise PublishError(published_count, str(error)) from error

    def _to_entry(self, event: LiveEvent) -> PutEventsRequestEntryTypeDef:
        return {
            "Source": SOURCE,
            "DetailType": str(event.type),
            "EventBusName": self._name,
            "Time": event.at,
            "Resources": [],
            "Detail": _encode_detail(event),
        }


def _count_accepted(results: Sequence[PutEventsResultEntryTypeDef]) -> tuple[int, str]:
    """Return how many results precede the first rejected one, and that one's error code."""
    for n, result in enumerate(results):
        if code := result.get("ErrorCode"):
            return n, code
    return len(results), ""


def _split_batches(
    entries: Iterable[PutEventsRequestEntryTypeDef],
) -> Iterator[list[PutEventsRequestEntryTypeDef]]:
    request: list[PutEventsRequestEntryTypeDef] = []
    size = 0
    for entry in entries:
        more = len(entry["Detail"].encode())
        if request and (len(request) == MAX_BATCH_SIZE or size + more > MAX_REQUEST_BYTES):
            yield request
            request, size = [], 0
        request.append(entry)
        size += more
    if request:
        yield request


def _encode_detail(event: LiveEvent) -> str:
    """Return the event as JSON. Texts are truncated if a request could not hold it."""
    text = to_body(event.to_json())
    for most in _TRUNCATION_LENGTHS:
        if len(text.encode()) <= MAX_REQUEST_BYTES:
            break
        text = to_body(replace(event, detail=_truncate(event.detail, most)).to_json())
    return text


def _truncate(value: Any, max_length: int) -> Any:
    match value:
        case str() if len(value) > max_length:
            return f"{value[:max_length]}…"
        case dict():
            return {name: _truncate(one, max_length) for name, one in value.items()}
        case list():
            return [_truncate(one, max_length) for one in value[:max_length]]
        case _:
            return value
