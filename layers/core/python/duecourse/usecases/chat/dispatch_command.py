"""Parse a chat message as a command, carry it out for its sender, and return the reply."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from duecourse.domain.chat.audit_operator import OperatorChange
from duecourse.domain.chat.chat_message import ChatMessage
from duecourse.domain.chat.commands import (
    Command,
    CreateAction,
    CreateReminder,
    ForgetMe,
    Help,
    InvalidCommand,
    ListTasks,
    PreferenceCommand,
    Resolve,
    SetNotifyLevel,
    SetQuietHours,
    SetTimezone,
    ShowTask,
    Start,
    TaskCommand,
)
from duecourse.domain.chat.help_text import HELP_TEXT
from duecourse.domain.chat.message import Message
from duecourse.domain.chat.parse_command import parse_command
from duecourse.domain.chat.refusal import refusal_text
from duecourse.domain.chat.task_view import format_visible_tasks
from duecourse.domain.errors import (
    AmbiguousIdError,
    DuecourseError,
    InvalidFieldsError,
    UnknownTaskError,
)
from duecourse.domain.text.formatting import remove_unprintable
from duecourse.usecases.chat.context import ChatContext, ClarificationError
from duecourse.usecases.chat.create_commands import handle_do, handle_remind
from duecourse.usecases.chat.forget_command import handle_forget
from duecourse.usecases.chat.preference_commands import (
    handle_notify,
    handle_quiet_hours,
    handle_timezone,
)
from duecourse.usecases.chat.sender_timezone import find_sender_timezone
from duecourse.usecases.chat.task_commands import handle_task_command
from duecourse.usecases.tasks.get_task import get_task

_WELCOME = "Hello. I send reminders and run actions at the times you choose.\n\n" + HELP_TEXT


def dispatch_command(message: Message, context: ChatContext, *, now: datetime) -> ChatMessage:
    """Return the reply to the message. Errors that a person can act on become the reply.

    The webhook function refuses strangers. What it queued before access was taken away, or was
    written by an earlier version of it, is refused here.
    """
    if not context.access.allows(message):
        return ChatMessage(refusal_text(message, context.access))
    message = replace(message, text=remove_unprintable(message.text))
    try:
        return _dispatch(parse_command(message.text), message, context, now=now)
    except ClarificationError as error:
        return ChatMessage(str(error))
    except InvalidFieldsError as error:
        return ChatMessage(f"That is not valid: {error}.")
    except DuecourseError as error:
        return ChatMessage(_to_sentence(error))


def _dispatch(
    command: Command, message: Message, context: ChatContext, *, now: datetime
) -> ChatMessage:
    match command:
        case CreateReminder(words):
            return handle_remind(words, message, context, now=now)
        case CreateAction(words):
            return handle_do(words, message, context, now=now)
        case ListTasks(page):
            return _list_tasks(page, message, context)
        case SetTimezone() | SetQuietHours() | SetNotifyLevel() | ForgetMe():
            return _handle_preference(command, message, context, now=now)
        case Start():
            return ChatMessage(_WELCOME)
        case Help(hint):
            return ChatMessage(f"{hint}\n{HELP_TEXT}" if hint else HELP_TEXT)
        case InvalidCommand(hint):
            return ChatMessage(hint)
        case _:
            return _find_and_handle_task(command, message, context, now=now)


def _handle_preference(
    command: PreferenceCommand, message: Message, context: ChatContext, *, now: datetime
) -> ChatMessage:
    match command:
        case SetTimezone(name):
            return handle_timezone(name, message, context, now=now)
        case SetQuietHours(words):
            return handle_quiet_hours(words, message, context, now=now)
        case SetNotifyLevel(level):
            return handle_notify(level, message, context)
        case ForgetMe(is_confirmed):
            return handle_forget(is_confirmed, message, context, now=now)


def _list_tasks(page: int, message: Message, context: ChatContext) -> ChatMessage:
    tasks = context.create_deps.store.list_open(message.owner)
    visible = [task for task in tasks if message.can_show(task.reply_target)]
    zone = find_sender_timezone(message, context.profiles).name_if_known
    return ChatMessage(format_visible_tasks(visible, len(tasks) - len(visible), zone, page=page))


def _find_and_handle_task(
    command: TaskCommand, message: Message, context: ChatContext, *, now: datetime
) -> ChatMessage:
    """Carry out a command on one task: the sender's own or, in an operator chat, anyone's.

    An operator's change to another owner's task is written to the audit log first, so that a later
    failure cannot leave it unaudited.
    """
    is_operator = context.is_operator_chat(message)
    owner = None if is_operator else message.owner
    try:
        task = get_task(command.task_id, store=context.create_deps.store, owner=owner)
    except (UnknownTaskError, AmbiguousIdError) as error:
        return ChatMessage(f"{_to_sentence(error)} /tasks lists yours.")
    if task.owner != message.owner and not isinstance(command, ShowTask):
        context.audit_log.record_change(
            OperatorChange.from_message(message, _command_text(command), task_id=task.id)
        )
    return handle_task_command(command, task, message, context, now=now)


def _command_text(command: TaskCommand) -> str:
    found = f" {command.resolution}" if isinstance(command, Resolve) else ""
    return f"/{type(command).__name__.lower()}{found}"


def _to_sentence(error: DuecourseError) -> str:
    text = str(error)
    return f"{text[:1].upper()}{text[1:]}" + ("" if text.endswith((".", "?", "!")) else ".")
