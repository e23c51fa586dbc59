"""The chat platforms that ship. Each is loaded only where it is spoken to, or speaks."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from duecourse.adapters import console, discord, slack, telegram
from duecourse.adapters.chat.incoming import Incoming
from duecourse.adapters.http.request_errors import UnknownPlatformError
from duecourse.domain.errors import SettingsError
from duecourse.ports.machine import Clock
from duecourse.ports.outside import Channel, Keys, Patcher


def make_channels(
    names: Collection[str], poster: Patcher, tokens: Keys, clock: Clock
) -> Mapping[str, Channel]:
    """Raises SettingsError for a name that none has."""

    def to_telegram() -> Channel:
        from duecourse.adapters.telegram.outgoing import TelegramChannel

        return TelegramChannel(poster, tokens, clock)

    def to_slack() -> Channel:
        from duecourse.adapters.slack.outgoing import SlackChannel

        return SlackChannel(poster, tokens, clock)

    def to_discord() -> Channel:
        from duecourse.adapters.discord.outgoing import DiscordChannel

        return DiscordChannel(poster, tokens, clock)

    made: dict[str, Callable[[], Channel]] = {
        telegram.NAME: to_telegram,
        slack.NAME: to_slack,
        discord.NAME: to_discord,
    }
    if unknown := [name for name in names if name not in made]:
        known = ", ".join(made)
        raise SettingsError([f"CHANNELS: {name} is none of {known}" for name in unknown])
    return {name: made[name]() for name in names}


def make_incoming(name: str, proofs: Keys, new_id: Callable[[], str]) -> Incoming:
    """Raises UnknownPlatformError."""
    match name:
        case telegram.NAME:
            from duecourse.adapters.telegram.incoming import TelegramIncoming

            return TelegramIncoming(proofs)
        case slack.NAME:
            from duecourse.adapters.slack.incoming import SlackIncoming

            return SlackIncoming(proofs)
        case discord.NAME:
            from duecourse.adapters.discord.incoming import DiscordIncoming

            return DiscordIncoming(proofs)
        case console.NAME:
            from duecourse.adapters.console.incoming import ConsoleIncoming

            return ConsoleIncoming(new_id)
    raise UnknownPlatformError
