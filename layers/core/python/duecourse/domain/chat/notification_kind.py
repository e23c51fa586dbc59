"""What kind of news a notice is, and who wants to hear which."""

from __future__ import annotations

from enum import StrEnum


class NotificationKind(StrEnum):
    FIRST_FAILURE = "first_failure"
    RETRY = "retry"  # something between the first failure and the end
    ESCALATION = "escalation"
    FINAL_FAILURE = "end"
    RECOVERY = "recovery"
    VERIFICATION = "check"
    INDETERMINATE = "doubt"
    DONE = "done"
    OTHER = "other"

    @property
    def can_become_stale(self) -> bool:
        """It speaks of a wait, or asks something. How something ended stays true."""
        return self in (
            NotificationKind.FIRST_FAILURE,
            NotificationKind.RETRY,
            *_KINDS_ASKING_OWNER,
        )


class NotifyLevel(StrEnum):
    """What somebody wants to hear of their tasks. Reminders come in any case."""

    ALL = "all"
    IMPORTANT = "important"
    NONE = "none"  # nothing but what asks something of them

    def wants(self, kind: NotificationKind) -> bool:
        return self is NotifyLevel.ALL or kind not in _SUPPRESSED_KINDS[self]


_KINDS_ASKING_OWNER = (
    NotificationKind.ESCALATION,
    NotificationKind.VERIFICATION,
    NotificationKind.INDETERMINATE,
)
_SUPPRESSED_KINDS = {
    NotifyLevel.ALL: frozenset[NotificationKind](),
    NotifyLevel.IMPORTANT: frozenset({NotificationKind.RETRY}),
    NotifyLevel.NONE: frozenset(NotificationKind) - {*_KINDS_ASKING_OWNER, NotificationKind.OTHER},
}
