"""The event bus on EventBridge: up to ten events in a request, in their order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from duecourse.adapters.aws.sqs import to_body
from duecourse.domain.errors import UnpublishedError
from duecourse.domain.events.event import LiveEvent

if TYPE_CHECKING:
    from types_boto3_events.client import EventBridgeClient
    from types_boto3_events.type_defs import (
        PutEventsRequestEntryTypeDef,
        PutEventsResultEntryTypeDef,
    )

    from duecourse.ports.runtime import Pause

SOURCE = "duecourse"
MOST = 10
# EventBridge takes 256 KB in a request, and adds some of its own to each event.
LARGEST = 250_000
TRIES = 4
_SHORTER = (20_000, 2_000, 200)


class EventBridgeBus:
    def __init__(self, client: EventBridgeClient, name: str, *, pause: Pause) -> None:
        self._client = client
        self._name = name
        self._pause = pause

    def publish(self, events: Sequence[LiveEvent]) -> None:
        taken = 0
        for request in _requests(self._entry(event) for event in events):
            self._put(request, before=taken)
            taken += len(request)

    def _put(self, entries: list[PutEventsRequestEntryTypeDef], *, before: int) -> None:
        """What follows a refused one was taken perhaps, but too early: it is told again."""
        taken, code = 0, ""
        for tries in range(1, TRIES + 1):
            more, code = self._tried(entries[taken:], before=before + taken)
            taken += more
            if taken == len(entries):
                return
            if tries < TRIES:
                self._pause(tries)
        raise UnpublishedError(before + taken, code)

    def _tried(
        self, entries: list[PutEventsRequestEntryTypeDef], *, before: int
    ) -> tuple[int, str]:
        try:
            return _taken(self._client.put_events(Entries=entries)["Entries"])
        except Exception as error:
            raise UnpublishedError(before, str(error)) from error

    def _entry(self, event: LiveEvent) -> PutEventsRequestEntryTypeDef:
        return {
            "Source": SOURCE,
            "DetailType": str(event.type),
            "EventBusName": self._name,
            "Time": event.at,
            "Resources": [],
            "Detail": _detail(event),
        }


def _taken(results: Sequence[PutEventsResultEntryTypeDef]) -> tuple[int, str]:
    """How many were, up to the first that was refused, and why that was."""
    for n, result in enumerate(results):
        if code := result.get("ErrorCode"):
            return n, code
    return len(results), ""


def _requests(
    entries: Iterable[PutEventsRequestEntryTypeDef],
) -> Iterator[list[PutEventsRequestEntryTypeDef]]:
    request: list[PutEventsRequestEntryTypeDef] = []
    size = 0
    for entry in entries:
        more = len(entry["Detail"].encode())
        if request and (len(request) == MOST or size + more > LARGEST):
            yield request
            request, size = [], 0
        request.append(entry)
        size += more
    if request:
        yield request


def _detail(event: LiveEvent) -> str:
    """As it is told everywhere, but for texts that no request has room for."""
    text = to_body(event.to_json())
    for most in _SHORTER:
        if len(text.encode()) <= LARGEST:
            break
        text = to_body(replace(event, detail=_cut(event.detail, most)).to_json())
    return text


def _cut(value: Any, most: int) -> Any:
    match value:
        case str() if len(value) > most:
            return f"{value[:most]}…"
        case dict():
            return {name: _cut(one, most) for name, one in value.items()}
        case list():
            return [_cut(one, most) for one in value[:most]]
        case _:
            return value
