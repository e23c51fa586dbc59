"""The words that begin a command: by them, what is meant for us is told from other talk."""

from __future__ import annotations

import re

COMMANDS = frozenset(
    {
        "approve",
        "cancel",
        "do",
        "done",
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
# In these words people ask for a reminder without a slash, wherever they are.
REMIND_ME = re.compile(r"\s*remind\s+me\b[\s,:]*", re.IGNORECASE)


def as_command(name: str, rest: str) -> str:
    """What a platform's own command says. A name that is none of ours stands for all of us, as in
    `/duecourse remind in 10 minutes tea`: the command follows it."""
    word = name.removeprefix("/")
    if word.lower() in COMMANDS:
        return f"/{word} {rest}".strip()
    words = rest.strip() or "help"
    return words if words.startswith("/") else f"/{words}"
