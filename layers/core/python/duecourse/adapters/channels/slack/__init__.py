"""Slack: inbound commands and events, and outbound messages."""

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

if TYPE_CHECKING:
    from duecourse.adapters.channels.inbound import InboundParser
    from duecourse.ports.integrations import Channel

NAME = "slack"
RESPONSE_URL_HOSTS = ("hooks.slack.com", "hooks.slack-gov.com")
LIMITS = ChannelLimits(
    longest_text=4_000,
    most_buttons=25,
    longest_label=75,
    longest_command=2_000,
    rest=timedelta(seconds=1),  # per channel
)


def _make_inbound(deps: InboundDeps) -> InboundParser:
    from duecourse.adapters.channels.slack.inbound import SlackInboundParser

    return SlackInboundParser(deps.proofs)


def _make_outbound(deps: OutboundDeps) -> Channel:
    from duecourse.adapters.channels.slack.outbound import SlackChannel

    return SlackChannel(deps.http_client, deps.tokens, deps.clock)


PLATFORM = Platform(
    name=NAME,
    inbound=Inbound(
        make=_make_inbound, proof=SecretKey(variable="SLACK_SIGNING_SECRET", local="local")
    ),
    outbound=Outbound(
        make=_make_outbound, token=SecretKey(variable="SLACK_BOT_TOKEN"), limits=LIMITS
    ),
    team_word="team",
)
