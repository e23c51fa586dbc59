"""The queues for work, failure reports, notifications and chat messages, and the dead letters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from duecourse.domain.chat.message import Message
    from duecourse.domain.chat.notification import Notification
    from duecourse.domain.dispatch.dead_letter import DeadLetter
    from duecourse.domain.dispatch.timing import Dispatch
    from duecourse.domain.failures.failure_report import FailureReport


class WorkQueue(Protocol):
    def send(self, dispatches: Iterable[Dispatch], *, now: datetime) -> int:
        """Send each dispatch so that it arrives at its due time or at most a second before.

        Returns how many were sent. At least once: after an error some may have been sent, and
        sending them again is harmless.
        """


class FailureQueue(Protocol):
    def send(self, report: FailureReport) -> None:
        """Send the report, at least once, or raise."""


class NotificationQueue(Protocol):
    def send(self, notification: Notification) -> None:
        """Send the notification, at least once, or raise."""

    def defer(self, receipt_handle: str, *, until: datetime, now: datetime) -> None:
        """Make a received notification visible again at `until` or some hours earlier, or raise."""


class ChatQueue(Protocol):
    def send(self, message: Message) -> None:
        """Send an incoming chat message, at least once, or raise.

        The messages of one sender are handled one at a time in order. A repeat within five minutes
        is dropped.
        """


class DeadLetters(Protocol):
    def save(self, letter: DeadLetter) -> None:
        """Store a dead letter. Idempotent."""

    def list_letters(self, after: str = "") -> Iterator[DeadLetter]:
        """Yield stored letters, oldest first, starting after the position `after`. Pages load
        lazily."""

    def drop(self, letter: DeadLetter) -> None: ...


class SourceQueues(Protocol):
    def redrive(self, letter: DeadLetter) -> None:
        """Send the letter to the queue it came from, or raise."""
