"""Discord: inbound interactions and outbound messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from duecourse.adapters.channels.platform import (
    ChannelLimits,
    Inbound,
    InboundDeps,
    Outbound,
    OutboundDeps,
    Platform,
    SecretKey,
)

if TYPE_CHECKING:
    from duecourse.adapters.channels.inbound import InboundParser
    from duecourse.ports.integrations import Channel

NAME = "discord"
EPHEMERAL = 64  # flag of a message that only its recipient sees
USER_PREFIX = "user:"  # of a target that is a person, reached by direct message
LIMITS = ChannelLimits(longest_text=2_000, most_buttons=25, longest_label=80, longest_command=100)


def _make_inbound(deps: InboundDeps) -> InboundParser:
    from duecourse.adapters.channels.discord.inbound import DiscordInboundParser

    return DiscordInboundParser(deps.proofs)


def _make_outbound(deps: OutboundDeps) -> Channel:
    from duecourse.adapters.channels.discord.outbound import DiscordChannel

    return DiscordChannel(deps.http_client, deps.tokens, deps.clock)


PLATFORM = Platform(
    name=NAME,
    inbound=Inbound(make=_make_inbound, proof=SecretKey(variable="DISCORD_PUBLIC_KEY")),
    outbound=Outbound(
        make=_make_outbound, token=SecretKey(variable="DISCORD_BOT_TOKEN"), limits=LIMITS
    ),
    team_word="guild",
)
