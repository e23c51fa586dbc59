"""The chat settings of the local stack: the console is open, everything else as on AWS."""

from __future__ import annotations

import os

from duecourse.app.chat_settings import ACCESS, ACTION_ACCESS, HOME_TEAMS, VARIABLES

CONSOLE = "console:*"
# Nothing is stored from before teams were told apart.
NO_HOME_TEAMS = "slack:none,discord:none"


def read_chat_environment() -> dict[str, str]:
    """Return the user's own chat settings. The template's defaults hold for the others."""
    chosen = {name: os.environ[name] for name in VARIABLES if os.environ.get(name)}
    return {
        HOME_TEAMS: NO_HOME_TEAMS,
        **chosen,
        ACCESS: f"{CONSOLE},{chosen.get(ACCESS, '')}",
        ACTION_ACCESS: f"{CONSOLE},{chosen.get(ACTION_ACCESS, '')}",
    }
