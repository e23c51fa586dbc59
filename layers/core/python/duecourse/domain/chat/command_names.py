"""The words that begin a command: by them, what is meant for us is told from other talk."""

from __future__ import annotations

import re

COMMAND_NAMES = frozenset(
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
REMIND_ME_PATTERN = re.compile(r"\s*remind\s+me\b[\s,:]*", re.IGNORECASE)


def to_command_text(name: str, rest: str) -> str:
    """What a platform's own command says. A name that is none of ours stands for all of us, as in
    `/duecourse remind in 10 minutes tea`: the command follows it."""
    word = name.removeprefix("/")
    if word.lower() in COMMAND_NAMES:
        return f"/{word} {rest}".strip()
    words = rest.strip() or "help"
    return words if words.startswith("/") else f"/{words}"
