"""The commands that a chat message can contain."""

from __future__ import annotations

from dataclasses import dataclass

from duecourse.domain.chat.notification_kind import NotifyLevel
from duecourse.domain.chat.occurrence_ref import OccurrenceRef
from duecourse.domain.lifecycle.resolve_indeterminate import Resolution


@dataclass(frozen=True)
class CreateReminder:
    """`text` begins with a time, which is parsed later because it needs the sender's time zone."""

    text: str


@dataclass(frozen=True)
class CreateAction:
    text: str


@dataclass(frozen=True)
class ListTasks:
    page: int = 1


@dataclass(frozen=True)
class ShowTask:
    task_id: str


@dataclass(frozen=True)
class Cancel:
    task_id: str


@dataclass(frozen=True)
class Done:
    """Only buttons set `occurrence`, here and in Snooze."""

    task_id: str
    occurrence: OccurrenceRef | None = None


@dataclass(frozen=True)
class Retry:
    task_id: str


@dataclass(frozen=True)
class Pause:
    task_id: str


@dataclass(frozen=True)
class Resume:
    task_id: str


@dataclass(frozen=True)
class Approve:
    task_id: str


@dataclass(frozen=True)
class Reject:
    task_id: str
    reason: str


@dataclass(frozen=True)
class Resolve:
    task_id: str
    resolution: Resolution


@dataclass(frozen=True)
class Snooze:
    task_id: str
    duration_text: str
    occurrence: OccurrenceRef | None = None


@dataclass(frozen=True)
class SetTimezone:
    """An empty `name` asks for the current time zone."""

    name: str


@dataclass(frozen=True)
class SetQuietHours:
    """`text` is a range of hours, or "off". If it is empty, it asks for the current quiet hours."""

    text: str


@dataclass(frozen=True)
class SetNotifyLevel:
    """`level` None asks for the current level."""

    level: NotifyLevel | None


@dataclass(frozen=True)
class ForgetMe:
    """Delete everything about the sender. Without confirmation, it asks for one."""

    is_confirmed: bool


@dataclass(frozen=True)
class Start:
    pass


@dataclass(frozen=True)
class Help:
    """Requested with /help, or the answer to text that is no command."""

    hint: str | None = None


@dataclass(frozen=True)
class InvalidCommand:
    """A command with a missing or wrong argument. `hint` is the whole reply."""

    hint: str


TaskCommand = (
    ShowTask | Cancel | Done | Retry | Pause | Resume | Approve | Reject | Resolve | Snooze
)
PreferenceCommand = SetTimezone | SetQuietHours | SetNotifyLevel | ForgetMe
Command = (
    CreateReminder
    | CreateAction
    | ListTasks
    | TaskCommand
    | PreferenceCommand
    | Start
    | Help
    | InvalidCommand
)
