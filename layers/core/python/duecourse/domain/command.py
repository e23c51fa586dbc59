"""What people type in chat, read into a command or refused with a hint."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta

from duecourse.domain.change import Resolution
from duecourse.domain.duration import parse_duration

HELP = """\
/remind in <how long> <what> - for example: /remind in 10 minutes stretch
/tasks - your open tasks
/cancel <id> - cancel one of them
/retry <id> - try again what failed
/pause <id> and /resume <id> - not now, and on again
/approve <id> - the work was done well
/reject <id> <why> - it was not
/resolve <id> applied, not_applied or skip - what became of work that was lost track of
/help - this list"""
_UNIT = (
    r"(?:weeks?|w|days?|d|hours?|hrs?|hr|h|minutes?|mins?|min|m|seconds?|secs?|sec|s)(?=[\s,\d]|$)"
)
_AMOUNT = rf"\d{{1,9}}(?:\.\d{{1,3}})?\s*{_UNIT}"
_IN = re.compile(
    rf"in\s+({_AMOUNT}(?:(?:\s*,\s*|\s+and\s+|\s*){_AMOUNT}){{0,5}}),?(?=\s|$)", re.IGNORECASE
)
_PART = re.compile(rf"(\d+(?:\.\d+)?)\s*({_UNIT})", re.IGNORECASE)


@dataclass(frozen=True)
class Remind:
    delay: timedelta
    description: str


@dataclass(frozen=True)
class ListTasks:
    pass


@dataclass(frozen=True)
class Cancel:
    task_id: str


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
class Help:
    """Said when asked for, and when what was typed could not be read."""

    hint: str | None = None


_ABOUT_ONE: dict[str, type[Cancel | Retry | Pause | Resume | Approve]] = {
    "/cancel": Cancel,
    "/retry": Retry,
    "/pause": Pause,
    "/resume": Resume,
    "/approve": Approve,
}
AboutOne = Cancel | Retry | Pause | Resume | Approve | Reject | Resolve
Command = Remind | ListTasks | AboutOne | Help


def parse_command(text: str) -> Command:
    word, *others = text.split(maxsplit=1) or [""]
    rest = others[0].strip() if others else ""
    word = word.lower()
    if word in _ABOUT_ONE:
        return _ABOUT_ONE[word](rest) if rest else _which(word)
    match word:
        case "/remind":
            return _remind(rest)
        case "/tasks":
            return ListTasks()
        case "/reject":
            return _reject(rest)
        case "/resolve":
            return _resolve(rest)
        case "/help" | "/start":
            return Help()
        case _:
            return Help("I did not understand that.")


def _which(word: str) -> Help:
    return Help(f"Which one? {word} <id>; /tasks lists them.")


def _reject(rest: str) -> Command:
    task_id, reason = _id_and_more(rest)
    if not reason:
        return Help("Which one, and why? For example: /reject a1b2c3d4 the link is broken")
    return Reject(task_id, reason)


def _id_and_more(rest: str) -> tuple[str, str]:
    task_id, *more = rest.split(maxsplit=1) or [""]
    return task_id, more[0].strip() if more else ""


def _resolve(rest: str) -> Command:
    task_id, outcome = _id_and_more(rest)
    try:
        return Resolve(task_id, Resolution(outcome.lower()))
    except ValueError:
        return Help("What happened? /resolve <id> applied, not_applied or skip")


def _remind(rest: str) -> Command:
    when = _IN.match(rest)
    if when is None:
        return Help("When? For example: /remind in 10 minutes stretch")
    description = rest[when.end() :].strip()
    if not description:
        return Help("What about? For example: /remind in 10 minutes stretch")
    parts = _PART.findall(when[1])
    try:
        delay = sum((parse_duration(f"{n}{unit[0].lower()}") for n, unit in parts), timedelta(0))
    except ValueError as error:
        return Help(f"That time {error}.")
    return Remind(delay, description)
