"""What people type in chat, read into a command or refused with a hint."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from duecourse.domain.chat.command_names import REMIND_ME
from duecourse.domain.chat.notification_kind import Notify
from duecourse.domain.chat.occurrence_ref import Rung, read_mark
from duecourse.domain.lifecycle.user_actions import Resolution

HELP = """\
/remind <when> <what> - for example: /remind tomorrow 9am call the bank
/do <when> <what> - have it done, at once if you name no time
/tasks - your open tasks
/task <id> - all about one of them
/cancel <id> - cancel it
/snooze <id> <how long> - put it off, for example by 20 minutes
/pause <id> and /resume <id> - not now, and on again
/done <id> - you need no more reminding of it
/retry <id> - try again what failed
/approve <id> - the work was done well
/reject <id> <why> - it was not
/resolve <id> applied, not_applied or skip - what became of work that was lost track of
/timezone <place> - where you are, for example: /timezone Europe/Berlin
/quiet <from>-<to> - when not to disturb you, for example: /quiet 22:00-7:00; or off
/notify all, important or none - what you hear of your tasks
/help - this list

<when> is in 10 minutes, at 15:00, on friday 8:30, 2026-02-17 15:00, every weekday 8:30, \
every month on the 1st, every 2 hours, and the like."""
_PAGE = re.compile(r"[1-9][0-9]{0,3}")
_WHEN = "When, and what about? For example: /remind in 10 minutes stretch"
_WHAT_HAPPENED = (
    "Which one, and what happened: applied, not_applied or skip?"
    " For example: /resolve a1b2c3d4 applied"
)
_WHAT_TO_HEAR = (
    "What do you want to hear of: all, important or none? For example: /notify important"
)


@dataclass(frozen=True)
class Remind:
    """`words` begin with a time, and it takes a zone to read that."""

    words: str


@dataclass(frozen=True)
class Do:
    words: str


@dataclass(frozen=True)
class ListTasks:
    page: int = 1


@dataclass(frozen=True)
class Show:
    task_id: str


@dataclass(frozen=True)
class Cancel:
    task_id: str


@dataclass(frozen=True)
class Done:
    """`rung` is said by buttons only, here and below."""

    task_id: str
    rung: Rung | None = None


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
    how_long: str
    rung: Rung | None = None


@dataclass(frozen=True)
class SetTimezone:
    """Without a name, the present one is asked for."""

    name: str


@dataclass(frozen=True)
class SetQuiet:
    """`words` are the hours, or off. Without any, the present ones are asked for."""

    words: str


@dataclass(frozen=True)
class SetNotify:
    """Without a level, the present one is asked for."""

    level: Notify | None


@dataclass(frozen=True)
class Start:
    pass


@dataclass(frozen=True)
class Help:
    """Said when asked for, and when what was typed is no command."""

    hint: str | None = None


@dataclass(frozen=True)
class Incomplete:
    """A command that lacks something, or has it wrong. `hint` is all that is answered."""

    hint: str


AboutOne = Show | Cancel | Done | Retry | Pause | Resume | Approve | Reject | Resolve | Snooze
AboutSender = SetTimezone | SetQuiet | SetNotify
Command = Remind | Do | ListTasks | AboutOne | AboutSender | Start | Help | Incomplete

_ABOUT_ONE: dict[str, Callable[[str], Command]] = {
    "/task": Show,
    "/cancel": Cancel,
    "/done": lambda rest: Done(*read_mark(rest)),
    "/retry": Retry,
    "/pause": Pause,
    "/resume": Resume,
    "/approve": Approve,
}


def parse_command(text: str) -> Command:
    text = text.strip()
    if asked := REMIND_ME.match(text):
        return _remind(text[asked.end() :])
    word, rest = _first_word(text)
    word = word.lower().partition("@")[0]  # in a group, commands may name the bot they are for
    if word in _ABOUT_ONE:
        return _ABOUT_ONE[word](rest) if rest else _which(word)
    if word in _OTHERS:
        return _OTHERS[word](rest)
    return Help("I did not understand that.")


def _first_word(text: str) -> tuple[str, str]:
    word, *others = text.split(maxsplit=1) or [""]
    return word, others[0].strip() if others else ""


def _which(word: str) -> Incomplete:
    return Incomplete(f"Which one? For example: {word} a1b2c3d4. /tasks lists yours.")


def _remind(rest: str) -> Command:
    word, others = _first_word(rest)
    words = others if word.lower() == "me" else rest
    return Remind(words) if words else Incomplete(_WHEN)


def _do(rest: str) -> Command:
    return Do(rest) if rest else Incomplete("Do what? For example: /do at 18:00 sum up the day")


def _reject(rest: str) -> Command:
    task_id, reason = _first_word(rest)
    if not reason:
        return Incomplete("Which one, and why? For example: /reject a1b2c3d4 the link is broken")
    return Reject(task_id, reason)


def _resolve(rest: str) -> Command:
    task_id, outcome = _first_word(rest)
    try:
        return Resolve(task_id, Resolution(outcome.lower()))
    except ValueError:
        return Incomplete(_WHAT_HAPPENED)


def _snooze(rest: str) -> Command:
    task_id, words = _first_word(rest)
    how_long, rung = read_mark(words)
    if not how_long:
        return Incomplete("Which one, and for how long? For example: /snooze a1b2c3d4 20 minutes")
    return Snooze(task_id, how_long, rung)


def _list(rest: str) -> Command:
    return ListTasks(int(rest)) if _PAGE.fullmatch(rest) else ListTasks()


def _notify(rest: str) -> Command:
    try:
        return SetNotify(Notify(rest.lower()) if rest else None)
    except ValueError:
        return Incomplete(_WHAT_TO_HEAR)


_OTHERS: dict[str, Callable[[str], Command]] = {
    "/remind": _remind,
    "/do": _do,
    "/tasks": _list,
    "/reject": _reject,
    "/resolve": _resolve,
    "/snooze": _snooze,
    "/timezone": SetTimezone,
    "/quiet": SetQuiet,
    "/notify": _notify,
    "/start": lambda _: Start(),
    "/help": lambda _: Help(),
}
