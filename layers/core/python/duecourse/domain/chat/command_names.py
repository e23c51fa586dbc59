"""The names of commands, used to tell commands from other talk in a chat."""

from __future__ import annotations

import re

COMMAND_NAMES = frozenset(
    {
        "approve",
        "cancel",
        "do",
        "done",
        "forget",
        "help",
        "notify",
        "pause",
        "quiet",
        "reject",
        "remind",
        "resolve",
        "resume",
        "retry",
        "snooze",
        "start",
        "task",
        "tasks",
        "timezone",
    }
)
# "remind me" works in every chat without a slash.
REMIND_ME_PATTERN = re.compile(r"\s*remind\s+me\b[\s,:]*", re.IGNORECASE)


def to_command_text(name: str, rest: str) -> str:
    """Return the text of our command for a platform's slash command.

    An unknown name is taken as the bot's own, as in `/duecourse remind in 10 minutes tea`; then the
    command follows in `rest`.
    """
    word = name.removeprefix("/")
    if word.lower() in COMMAND_NAMES:
        return f"/{word} {rest}".strip()
    words = rest.strip() or "help"
    return words if words.startswith("/") else f"/{words}"
