"""What kind of news a notice is, and who wants to hear which."""

from __future__ import annotations

from enum import StrEnum


class Kind(StrEnum):
    FIRST_FAILURE = "first_failure"
    RETRY = "retry"  # something between the first failure and the end
    ESCALATION = "escalation"
    END = "end"
    RECOVERY = "recovery"
    CHECK = "check"
    DOUBT = "doubt"
    DONE = "done"
    OTHER = "other"

    @property
    def may_be_outdated(self) -> bool:
        """It speaks of a wait, or asks something. How something ended stays true."""
        return self in (Kind.FIRST_FAILURE, Kind.RETRY, *_ASKING)


class Notify(StrEnum):
    """What somebody wants to hear of their tasks. Reminders come in any case."""

    ALL = "all"
    IMPORTANT = "important"
    NONE = "none"  # nothing but what asks something of them

    def wants(self, kind: Kind) -> bool:
        return self is Notify.ALL or kind not in _UNWANTED[self]


_ASKING = (Kind.ESCALATION, Kind.CHECK, Kind.DOUBT)
_UNWANTED = {
    Notify.ALL: frozenset[Kind](),
    Notify.IMPORTANT: frozenset({Kind.RETRY}),
    Notify.NONE: frozenset(Kind) - {*_ASKING, Kind.OTHER},
}
