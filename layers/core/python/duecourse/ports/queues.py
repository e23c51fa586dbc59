"""The queues for work, failure reports, notifications and chat messages, and the dead letters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from duecourse.domain.chat.message import Message
    from duecourse.domain.chat.notification import Notification
    from duecourse.domain.dispatch.dead_letter import DeadLetter
    from duecourse.domain.dispatch.timing import Dispatch
    from duecourse.domain.dispatch.unjournaled import StreamPosition, UnjournaledRecords
    from duecourse.domain.failures.failure_report import FailureReport


class WorkQueue(Protocol):
    def send(self, dispatches: Iterable[Dispatch], *, now: datetime) -> int:
        """Send each dispatch so that it arrives at its due time or at most a second before.

        Returns how many were sent. At least once: after an error some may have been sent, and
        sending them again is harmless.
        """

    def try_send(self, dispatch: Dispatch, *, now: datetime) -> None:
        """Send the dispatch of a stored task. Never raises: an error is logged and counted.

        The sweeper sends the dispatch once the task is overdue.
        """


class FailureQueue(Protocol):
    def send(self, report: FailureReport) -> None:
        """Send the report, at least once, or raise."""

    def send_all(self, reports: Sequence[FailureReport]) -> None:
        """Send small reports, at least once, or raise. After an error some may have been sent."""


class NotificationQueue(Protocol):
    def send(self, notification: Notification) -> None:
        """Send the notification, at least once, or raise."""

    def send_all(self, notifications: Sequence[Notification]) -> int:
        """Send the notifications in order and return how many were sent before the first failure.

        What this container has sent lately is not sent again.
        """

    def defer(self, receipt_handle: str, *, until: datetime, now: datetime) -> None:
        """Make a received notification visible again at `until` or some hours earlier, or raise."""

    def send_later(self, notification: Notification, *, at: datetime, now: datetime) -> None:
        """Send the notification so that it arrives at `at`, or 15 minutes from now, or raise."""


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


class JournalDeadLetters(Protocol):
    def send(self, unjournaled: UnjournaledRecords) -> None:
        """Send stream records that the journal cannot process, at least once, or raise."""


class StreamReader(Protocol):
    def read(self, position: StreamPosition) -> Sequence[dict[str, Any]]:
        """Return the records at this position; none if the stream no longer has them."""


class SourceQueues(Protocol):
    def redrive(self, letter: DeadLetter) -> None:
        """Send the letter to the queue it came from, or raise."""
