"""All breakers side by side, by provider, and what is told when one opens or closes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from duecourse.domain.errors import DuecourseError
from duecourse.domain.limits.circuit_breaker import Breaker, State, as_of
from duecourse.domain.tasks.event import Event, EventType
from duecourse.domain.time.instant import to_text

NAME_LIMIT = 64
MOST_KEPT = 100
_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


class StaleBreakersError(DuecourseError):
    """Somebody else changed a breaker first; nothing was written."""

    def __init__(self) -> None:
        super().__init__("the breakers were changed by somebody else at the same moment")


@dataclass(frozen=True, slots=True)
class Panel:
    """Providers are few. Of too many, those are forgotten first that have nothing to tell."""

    breakers: Mapping[str, Breaker] = field(default_factory=dict)
    version: int = 0

    def of(self, provider: str) -> Breaker:
        """A provider never heard of is let through."""
        return self.breakers.get(known_as(provider), Breaker())

    def standing(self, now: datetime) -> list[tuple[str, Breaker]]:
        """Each as it stands now, by the name of its provider."""
        return [(name, as_of(one, now=now)) for name, one in sorted(self.breakers.items())]

    def having(self, provider: str, breaker: Breaker) -> Panel:
        kept = {**self.breakers, known_as(provider): breaker}
        while len(kept) > MOST_KEPT:
            del kept[min(kept, key=lambda name: _worth(kept[name]))]
        return Panel(kept, self.version + 1)


def _worth(breaker: Breaker) -> tuple[bool, bool, datetime]:
    last = max((*breaker.failed_at, breaker.since or _LONG_AGO))
    return breaker.state is not State.CLOSED, breaker.failures > 0, last


def known_as(provider: str) -> str:
    return provider[:NAME_LIMIT]


def journal_key(provider: str) -> str:
    """Where the journal keeps what happened to a breaker, as if it were a task."""
    return f"breaker#{known_as(provider)}"


def event_between(provider: str, old: Breaker, new: Breaker, *, at: datetime) -> Event | None:
    """That it opened, once more or for the first time, or that the outage is over."""
    key, name = journal_key(provider), known_as(provider)
    if new.state is State.OPEN and old.state is not State.OPEN and new.until is not None:
        detail = {"provider": name, "failures": new.failures, "until": to_text(new.until)}
        return Event(EventType.BREAKER_OPENED, key, at, detail)
    if new.state is State.CLOSED and old.opened_at is not None:
        told = {"provider": name, "failures": old.failures, "opened_at": to_text(old.opened_at)}
        return Event(EventType.BREAKER_CLOSED, key, at, told)
    return None
