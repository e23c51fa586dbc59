"""A person typed something: do it for that person, and say what was done."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from duecourse.domain.chat.audit_operator import OperatorChange
from duecourse.domain.chat.chat_message import Saying
from duecourse.domain.chat.commands import (
    HELP,
    AboutOne,
    AboutSender,
    Command,
    Do,
    Help,
    Incomplete,
    ListTasks,
    Remind,
    Resolve,
    SetNotify,
    SetQuiet,
    SetTimezone,
    Show,
    Start,
    parse_command,
)
from duecourse.domain.chat.message import Message
from duecourse.domain.chat.task_view import listing_here
from duecourse.domain.errors import (
    AmbiguousIdError,
    DuecourseError,
    InvalidFieldsError,
    UnknownTaskError,
)
from duecourse.domain.text.formatting import printable
from duecourse.usecases.chat.context import ChatDesk
from duecourse.usecases.chat.create_commands import answer_do, answer_remind
from duecourse.usecases.chat.preference_commands import answer_notify, answer_quiet, answer_timezone
from duecourse.usecases.chat.sender_timezone import zone_of
from duecourse.usecases.chat.task_commands import answer_about_one
from duecourse.usecases.tasks.get_task import find_task

_WELCOME = "Hello. I remind you of things, and have things done, when you say so.\n\n" + HELP


def answer_command(message: Message, chat: ChatDesk, *, now: datetime) -> Saying:
    message = replace(message, text=printable(message.text))
    try:
        return _answer(parse_command(message.text), message, chat, now=now)
    except InvalidFieldsError as error:
        return Saying(f"That did not work: {error}.")
    except DuecourseError as error:
        return Saying(_sentence(error))


def _answer(command: Command, sender: Message, chat: ChatDesk, *, now: datetime) -> Saying:
    match command:
        case Remind(words):
            return answer_remind(words, sender, chat, now=now)
        case Do(words):
            return answer_do(words, sender, chat, now=now)
        case ListTasks(page):
            return _list(page, sender, chat)
        case SetTimezone() | SetQuiet() | SetNotify():
            return _about_sender(command, sender, chat, now=now)
        case Start():
            return Saying(_WELCOME)
        case Help(hint):
            return Saying(f"{hint}\n{HELP}" if hint else HELP)
        case Incomplete(hint):
            return Saying(hint)
        case _:
            return _about_one(command, sender, chat, now=now)


def _about_sender(
    command: AboutSender, sender: Message, chat: ChatDesk, *, now: datetime
) -> Saying:
    match command:
        case SetTimezone(name):
            return answer_timezone(name, sender, chat, now=now)
        case SetQuiet(words):
            return answer_quiet(words, sender, chat, now=now)
        case SetNotify(level):
            return answer_notify(level, sender, chat)


def _list(page: int, sender: Message, chat: ChatDesk) -> Saying:
    tasks = chat.desk.store.open_of(sender.owner)
    here = [task for task in tasks if sender.is_place_of(task.reply_target)]
    zone = zone_of(sender, chat.profiles).name_if_known
    return Saying(listing_here(here, len(tasks) - len(here), zone, page=page))


def _about_one(command: AboutOne, sender: Message, chat: ChatDesk, *, now: datetime) -> Saying:
    """In a chat of the operators, whoever speaks may speak of every task. What they change of
    another's is noted before it is done: nothing can be missing, whatever fails after it."""
    is_operator = chat.is_operators(sender)
    owner = None if is_operator else sender.owner
    try:
        task = find_task(command.task_id, store=chat.desk.store, owner=owner)
    except (UnknownTaskError, AmbiguousIdError) as error:
        return Saying(f"{_sentence(error)} /tasks lists yours.")
    if task.owner != sender.owner and not isinstance(command, Show):
        chat.audit_log.note(OperatorChange.said(sender, _word(command), task_id=task.id))
    return answer_about_one(command, task, sender, chat, now=now)


def _word(command: AboutOne) -> str:
    found = f" {command.resolution}" if isinstance(command, Resolve) else ""
    return f"/{type(command).__name__.lower()}{found}"


def _sentence(error: DuecourseError) -> str:
    text = str(error)
    return f"{text[:1].upper()}{text[1:]}" + ("" if text.endswith((".", "?", "!")) else ".")
