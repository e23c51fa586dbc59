"""What it takes to serve people in chat."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from duecourse.domain.chat.chat_address import ChatAddress
from duecourse.domain.chat.message import Message
from duecourse.domain.chat.notification_kind import NotifyLevel
from duecourse.ports.chat import Profiles, QuietHoursStore
from duecourse.ports.journal import AuditLog
from duecourse.usecases.failures.record_failure import FailureDeps
from duecourse.usecases.runs.approve_reject import ApprovalDeps
from duecourse.usecases.tasks.create_task import CreateTaskDeps

# The queue may be slow. What should have come longer ago than this is not done without asking.
MAX_DELAY = timedelta(minutes=5)
MESSAGE_TOO_LATE = (
    "Your message took too long to get here, that time has passed. Please say it again."
)


@dataclass(frozen=True)
class ChatContext:
    """Few commands need to record a failure, so that is made on demand. Of the `providers`, the
    first carries out what is asked for here. In a chat of the `operators`, every task may be spoken
    of. `notify` is what people hear until they say otherwise."""

    create_deps: CreateTaskDeps
    approval_deps: ApprovalDeps
    profiles: Profiles
    quiet_hours: QuietHoursStore
    audit_log: AuditLog
    get_failure_deps: Callable[[], FailureDeps]
    providers: Sequence[str]
    operator_chats: Sequence[ChatAddress]
    default_notify: NotifyLevel

    def is_operator_chat(self, message: Message) -> bool:
        return any(place.contains(message) for place in self.operator_chats)
