"""Kinds of notifications, and which of them each notify level delivers."""

from __future__ import annotations

from enum import StrEnum


class NotificationKind(StrEnum):
    FIRST_FAILURE = "first_failure"
    RETRY = "retry"  # any step between the first failure and the end
    ESCALATION = "escalation"
    FINAL_FAILURE = "end"
    RECOVERY = "recovery"
    VERIFICATION = "check"
    INDETERMINATE = "doubt"
    DONE = "done"
    RESOLVED = "resolved"  # how it ended after people were asked
    OTHER = "other"

    @property
    def can_become_stale(self) -> bool:
        """True for kinds that announce a wait or ask for something. Final results stay true."""
        return self in (
            NotificationKind.FIRST_FAILURE,
            NotificationKind.RETRY,
            *_KINDS_ASKING_OWNER,
        )


class NotifyLevel(StrEnum):
    """Which notifications an owner wants. Reminders are always delivered."""

    ALL = "all"
    IMPORTANT = "important"
    NONE = "none"  # only what needs an answer, or no longer needs one

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
    NotifyLevel.NONE: frozenset(NotificationKind)
    - {*_KINDS_ASKING_OWNER, NotificationKind.RESOLVED, NotificationKind.OTHER},
}
