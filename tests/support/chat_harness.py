"""A chat in memory: send a command, read the reply and what is stored."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import count
from typing import Any

from duecourse.domain.chat.access import AccessEntry, ChatAccess
from duecourse.domain.chat.chat_address import ChatAddress
from duecourse.domain.chat.chat_message import ChatMessage
from duecourse.domain.chat.limits import ChatLimits
from duecourse.domain.chat.notification_kind import NotifyLevel
from duecourse.domain.chat.profile import Profile
from duecourse.domain.tasks.owner import Owner
from duecourse.domain.tasks.task import Task
from duecourse.usecases.chat.context import ChatContext
from duecourse.usecases.chat.dispatch_command import dispatch_command
from duecourse.usecases.failures.record_failure import FailureDeps
from duecourse.usecases.runs.approve_reject import ApprovalDeps
from duecourse.usecases.tasks.create_task import CreateTaskDeps

from tests.support.builders.chat import a_message
from tests.support.builders.moments import NOW
from tests.support.builders.tasks import STACK_CAPABILITIES
from tests.support.fakes.chat import ListAuditLog, MemoryProfiles, MemoryQuietHours
from tests.support.fakes.limits import MemoryBudgets
from tests.support.fakes.queues import ListLetters, ListQueue
from tests.support.fakes.tasks import MemoryStore, MemorySubjects

OPEN_ACCESS = ChatAccess(users=[AccessEntry()], action_users=[AccessEntry()])
DEFAULT_LIMITS = ChatLimits(open_tasks=100, open_series=20, min_interval=timedelta(minutes=15))


class ChatHarness:
    def __init__(
        self,
        *tasks: Task,
        providers: tuple[str, ...] = ("scripted",),
        operators: tuple[ChatAddress, ...] = (),
        access: ChatAccess = OPEN_ACCESS,
        limits: ChatLimits = DEFAULT_LIMITS,
    ) -> None:
        self.store = MemoryStore(*tasks)
        self.queue = ListQueue()
        self.profiles = MemoryProfiles()
        self.quiet_hours = MemoryQuietHours()
        self.audit_log = ListAuditLog()
        self.dead_letters = ListLetters()
        self.context = ChatContext(
            CreateTaskDeps(self.store, self.queue, MemoryBudgets(), STACK_CAPABILITIES),
            ApprovalDeps(self.store, MemorySubjects(), self.queue),
            self.profiles,
            self.quiet_hours,
            self.audit_log,
            self.dead_letters,
            _no_failure_deps,
            providers,
            operators,
            NotifyLevel.IMPORTANT,
            access,
            limits,
        )
        self._numbers = count(1)

    def dispatch(
        self, text: str, *, at: datetime = NOW, now: datetime | None = None, **fields: Any
    ) -> ChatMessage:
        key = fields.pop("key", f"message-{next(self._numbers)}")
        message = a_message(text, sent_at=at, dedup_key=key, **fields)
        return dispatch_command(message, self.context, now=now or at)

    def say(self, text: str, **fields: Any) -> str:
        return self.dispatch(text, **fields).text

    def set_timezone(self, zone: str) -> ChatHarness:
        self.profiles.save(Profile(Owner("console", "ada"), timezone=zone))
        return self

    @property
    def tasks(self) -> list[Task]:
        return list(self.store.tasks.values())

    @property
    def task(self) -> Task:
        [task] = self.tasks
        return task


def _no_failure_deps() -> FailureDeps:
    raise NotImplementedError
