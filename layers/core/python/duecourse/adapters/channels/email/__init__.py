"""E-mail through an SNS topic of the stack, to everybody who confirmed a subscription."""

from __future__ import annotations

from typing import TYPE_CHECKING

from duecourse.adapters.channels.platform import ChannelLimits, OutboundDeps
from duecourse.adapters.channels.send_only import SendOnlyChannel

if TYPE_CHECKING:
    from duecourse.ports.integrations import Channel

NAME = "email"
SUBSCRIBERS = "subscribers"  # SNS cannot send to one of them
LIMITS = ChannelLimits(longest_text=60_000)  # SNS accepts 256 KiB, and a character has four bytes


def _make_outbound(deps: OutboundDeps) -> Channel | None:
    if deps.topic is None:
        return None
    from duecourse.adapters.channels.email.outbound import EmailChannel

    return EmailChannel(deps.topic)


CHANNEL = SendOnlyChannel(
    name=NAME,
    make=_make_outbound,
    only_target=SUBSCRIBERS,
    is_reminder_default=True,
)
