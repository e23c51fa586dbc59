"""The chat platforms that ship: each is offered only where the deployment names it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from duecourse.domain.errors import SettingsError
from duecourse.outside import Channel, Keys, Patcher
from duecourse.ports import Clock


def make_channels(
    names: Collection[str], poster: Patcher, tokens: Keys, clock: Clock
) -> Mapping[str, Channel]:
    """Raises SettingsError for a name that none has."""

    def telegram() -> Channel:
        from duecourse.adapters.telegram.outgoing import TelegramChannel

        return TelegramChannel(poster, tokens, clock)

    def slack() -> Channel:
        from duecourse.adapters.slack.outgoing import SlackChannel

        return SlackChannel(poster, tokens, clock)

    def discord() -> Channel:
        from duecourse.adapters.discord.outgoing import DiscordChannel

        return DiscordChannel(poster, tokens, clock)

    made: dict[str, Callable[[], Channel]] = {
        "telegram": telegram,
        "slack": slack,
        "discord": discord,
    }
    if unknown := [name for name in names if name not in made]:
        known = ", ".join(made)
        raise SettingsError([f"CHANNELS: {name} is none of {known}" for name in unknown])
    return {name: made[name]() for name in names}
