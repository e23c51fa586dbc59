"""Where work, reports and words wait, and where they end that nobody could take."""

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
        """Hand over each at its due time or within a second before it; says how many.

        At least once: after an error some may have been sent, and sending again is harmless.
        """


class FailureQueue(Protocol):
    def send(self, report: FailureReport) -> None:
        """Hand over the report, at least once, or raise."""


class NotificationQueue(Protocol):
    def send(self, notification: Notification) -> None:
        """Hand over what a person is to be told, at least once, or raise."""

    def defer(self, receipt_handle: str, *, until: datetime, now: datetime) -> None:
        """Hand what was taken over again at that time, or some hours before it, or raise."""


class ChatQueue(Protocol):
    def send(self, message: Message) -> None:
        """Keep what somebody said until it is answered, at least once, or raise. Of one sender, one
        message is answered after the other, in the order they came; a repeat within five minutes is
        dropped."""


class DeadLetters(Protocol):
    def save(self, letter: DeadLetter) -> None:
        """Keep what no task could be found for; keeping it again changes nothing."""

    def list_letters(self, after: str = "") -> Iterator[DeadLetter]:
        """Oldest first, from just behind that place on, read as far as one asks."""

    def drop(self, letter: DeadLetter) -> None: ...


class SourceQueues(Protocol):
    def redrive(self, letter: DeadLetter) -> None:
        """Put it on the queue it died on, or raise."""
