"""Telegram: inbound updates and outbound messages."""

from __future__ import annotations

from datetime import timedelta
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
from duecourse.domain.chat.buttons import COMMAND_LIMIT

if TYPE_CHECKING:
    from duecourse.adapters.channels.inbound import InboundParser
    from duecourse.ports.integrations import Channel

NAME = "telegram"
LIMITS = ChannelLimits(
    longest_text=4_096,
    most_buttons=20,
    longest_label=60,
    longest_command=COMMAND_LIMIT,
    command_size=lambda command: len(command.encode()),
    rest=timedelta(seconds=1),  # per chat
    most_a_second=30,
)


def _make_inbound(deps: InboundDeps) -> InboundParser:
    from duecourse.adapters.channels.telegram.inbound import TelegramInboundParser

    return TelegramInboundParser(deps.proofs)


def _make_outbound(deps: OutboundDeps) -> Channel:
    from duecourse.adapters.channels.telegram.outbound import TelegramChannel

    return TelegramChannel(deps.http_client, deps.tokens, deps.clock)


PLATFORM = Platform(
    name=NAME,
    inbound=Inbound(
        make=_make_inbound, proof=SecretKey(variable="TELEGRAM_SECRET_TOKEN", local="local")
    ),
    outbound=Outbound(
        make=_make_outbound, token=SecretKey(variable="TELEGRAM_BOT_TOKEN"), limits=LIMITS
    ),
)
