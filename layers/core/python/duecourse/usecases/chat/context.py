"""What it takes to serve people in chat."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from duecourse.domain.chat.chat_address import Place
from duecourse.domain.chat.message import Message
from duecourse.domain.chat.notification_kind import Notify
from duecourse.ports.chat import Profiles, QuietHours
from duecourse.ports.journal import AuditLog
from duecourse.usecases.failures.record_failure import Recorder
from duecourse.usecases.runs.approve_reject import VerdictBook
from duecourse.usecases.tasks.create_task import Desk

# The queue may be slow. What should have come longer ago than this is not done without asking.
MOST_LATE = timedelta(minutes=5)
TOO_LATE = "Your message took too long to get here, that time has passed. Please say it again."


@dataclass(frozen=True)
class ChatDesk:
    """Few commands need to record a failure, so that is made on demand. Of the `providers`, the
    first carries out what is asked for here. In a chat of the `operators`, every task may be spoken
    of. `notify` is what people hear until they say otherwise."""

    desk: Desk
    book: VerdictBook
    profiles: Profiles
    quiet_hours: QuietHours
    audit_log: AuditLog
    recorder: Callable[[], Recorder]
    providers: Sequence[str]
    operators: Sequence[Place]
    notify: Notify

    def is_operators(self, message: Message) -> bool:
        return any(place.has(message) for place in self.operators)
