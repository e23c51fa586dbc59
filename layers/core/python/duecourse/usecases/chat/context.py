"""Dependencies of the chat commands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from duecourse.domain.chat.access import ChatAccess
from duecourse.domain.chat.chat_address import ChatAddress
from duecourse.domain.chat.limits import ChatLimits
from duecourse.domain.chat.message import Message
from duecourse.domain.chat.notification_kind import NotifyLevel
from duecourse.domain.errors import DuecourseError
from duecourse.ports.chat import Profiles, QuietHoursStore
from duecourse.ports.journal import AuditLog
from duecourse.ports.queues import DeadLetters
from duecourse.usecases.failures.record_failure import FailureDeps
from duecourse.usecases.runs.approve_reject import ApprovalDeps
from duecourse.usecases.tasks.create_task import CreateTaskDeps

# The chat queue may be slow. A command whose time passed longer ago than this is not carried out.
MAX_DELAY = timedelta(minutes=5)
MESSAGE_TOO_LATE = "Your message arrived too late: that time has passed. Please send it again."


class ClarificationError(DuecourseError):
    """A command is unclear or came too late. The message is the whole reply."""


@dataclass(frozen=True)
class ChatContext:
    """Dependencies and settings of the chat commands.

    `get_failure_deps` is called on demand, as few commands record a failure. The first of
    `providers` carries out actions created in chat. In `operator_chats`, commands may name any
    task. `default_notify` holds until a person chooses a level. `limits` are those of each sender.
    """

    create_deps: CreateTaskDeps
    approval_deps: ApprovalDeps
    profiles: Profiles
    quiet_hours: QuietHoursStore
    audit_log: AuditLog
    dead_letters: DeadLetters
    get_failure_deps: Callable[[], FailureDeps]
    providers: Sequence[str]
    operator_chats: Sequence[ChatAddress]
    default_notify: NotifyLevel
    access: ChatAccess
    limits: ChatLimits

    def is_operator_chat(self, message: Message) -> bool:
        return any(place.contains(message) for place in self.operator_chats)
