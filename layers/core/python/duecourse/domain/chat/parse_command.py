"""Parse the text of a chat message into a command, or into a hint if it is invalid."""

from __future__ import annotations

import re
from collections.abc import Callable

from duecourse.domain.chat.command_names import REMIND_ME_PATTERN
from duecourse.domain.chat.commands import (
    Approve,
    Cancel,
    Command,
    CreateAction,
    CreateReminder,
    Done,
    ForgetMe,
    Help,
    InvalidCommand,
    ListTasks,
    Pause,
    Reject,
    Resolve,
    Resume,
    Retry,
    SetNotifyLevel,
    SetQuietHours,
    SetTimezone,
    ShowTask,
    Snooze,
    Start,
)
from duecourse.domain.chat.notification_kind import NotifyLevel
from duecourse.domain.chat.occurrence_ref import split_ref
from duecourse.domain.lifecycle.resolve_indeterminate import Resolution

_PAGE_PATTERN = re.compile(r"[1-9][0-9]{0,3}")
_REMIND_HINT = "When, and what should I remind you of? Example: /remind in 10 minutes stretch"
_RESOLVE_HINT = (
    "Which task, and what happened: applied, not_applied or skip?"
    " Example: /resolve a1b2c3d4 applied"
)
_NOTIFY_HINT = "Which notifications do you want: all, important or none? Example: /notify important"
_FORGET_HINT = "This deletes everything I know about you: /forget me"
_TASK_COMMANDS: dict[str, Callable[[str], Command]] = {
    "/task": ShowTask,
    "/cancel": Cancel,
    "/done": lambda rest: Done(*split_ref(rest)),
    "/retry": Retry,
    "/pause": Pause,
    "/resume": Resume,
    "/approve": Approve,
}


def parse_command(text: str) -> Command:
    text = text.strip()
    if prefix := REMIND_ME_PATTERN.match(text):
        return _parse_remind(text[prefix.end() :])
    word, rest = _split_first_word(text)
    word = word.lower().partition("@")[0]  # in groups, commands may carry the bot's name
    if word in _TASK_COMMANDS:
        return _TASK_COMMANDS[word](rest) if rest else _ask_which_task(word)
    if word in _OTHER_COMMANDS:
        return _OTHER_COMMANDS[word](rest)
    return Help("I did not understand that. These are the commands:")


def _split_first_word(text: str) -> tuple[str, str]:
    word, *others = text.split(maxsplit=1) or [""]
    return word, others[0].strip() if others else ""


def _ask_which_task(word: str) -> InvalidCommand:
    return InvalidCommand(f"Which task? /tasks lists yours. Example: {word} a1b2c3d4")


def _parse_remind(rest: str) -> Command:
    word, others = _split_first_word(rest)
    words = others if word.lower() == "me" else rest
    return CreateReminder(words) if words else InvalidCommand(_REMIND_HINT)


def _parse_do(rest: str) -> Command:
    return (
        CreateAction(rest)
        if rest
        else InvalidCommand("What should I do? Example: /do at 18:00 sum up the day")
    )


def _parse_reject(rest: str) -> Command:
    task_id, reason = _split_first_word(rest)
    if not reason:
        return InvalidCommand("Which task, and why? Example: /reject a1b2c3d4 the link is broken")
    return Reject(task_id, reason)


def _parse_resolve(rest: str) -> Command:
    task_id, outcome = _split_first_word(rest)
    try:
        return Resolve(task_id, Resolution(outcome.lower()))
    except ValueError:
        return InvalidCommand(_RESOLVE_HINT)


def _parse_snooze(rest: str) -> Command:
    task_id, words = _split_first_word(rest)
    how_long, occurrence = split_ref(words)
    if not how_long:
        return InvalidCommand("Which task, and for how long? Example: /snooze a1b2c3d4 20 minutes")
    return Snooze(task_id, how_long, occurrence)


def _parse_list(rest: str) -> Command:
    return ListTasks(int(rest)) if _PAGE_PATTERN.fullmatch(rest) else ListTasks()


def _parse_notify(rest: str) -> Command:
    try:
        return SetNotifyLevel(NotifyLevel(rest.lower()) if rest else None)
    except ValueError:
        return InvalidCommand(_NOTIFY_HINT)


def _parse_forget(rest: str) -> Command:
    words = rest.lower().split()
    if words not in (["me"], ["me", "yes"]):
        return InvalidCommand(_FORGET_HINT)
    return ForgetMe(is_confirmed=words[-1] == "yes")


_OTHER_COMMANDS: dict[str, Callable[[str], Command]] = {
    "/remind": _parse_remind,
    "/do": _parse_do,
    "/tasks": _parse_list,
    "/reject": _parse_reject,
    "/resolve": _parse_resolve,
    "/snooze": _parse_snooze,
    "/timezone": SetTimezone,
    "/quiet": SetQuietHours,
    "/notify": _parse_notify,
    "/forget": _parse_forget,
    "/start": lambda _: Start(),
    "/help": lambda _: Help(),
}
