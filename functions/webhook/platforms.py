"""The platforms that may speak to us."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from duecourse import offered, parts
from duecourse.adapters.chat.incoming import Platform
from duecourse.adapters.discord.incoming import DiscordIncoming
from duecourse.adapters.slack.incoming import SlackIncoming
from duecourse.adapters.telegram.incoming import TelegramIncoming
from duecourse.outside import Keys

from .console import ConsoleIncoming

_PROVEN: Mapping[str, Callable[[Keys], Platform]] = {
    "telegram": TelegramIncoming,
    "slack": SlackIncoming,
    "discord": DiscordIncoming,
}


def platform_named(name: str) -> Platform | None:
    """None where there is none of that name. Those that must prove themselves exist everywhere:
    where no secret is set, closed to all."""
    if name in _PROVEN:
        return _PROVEN[name](parts.chat_verification())
    if name == "console" and is_offered(name):
        return ConsoleIncoming(parts.new_id)
    return None


def is_offered(name: str) -> bool:
    """Whether anybody could be answered there."""
    return name in offered.channels()
