"""The log: every message is one line of the function's log. It is always available."""

from __future__ import annotations

from typing import TYPE_CHECKING

from duecourse.adapters.channels.platform import ChannelLimits, OutboundDeps
from duecourse.adapters.channels.send_only import SendOnlyChannel

if TYPE_CHECKING:
    from duecourse.ports.integrations import Channel

NAME = "log"
LIMITS = ChannelLimits(longest_text=8_000)


def _make_outbound(deps: OutboundDeps) -> Channel:
    from duecourse.adapters.channels.log.outbound import LogChannel

    return LogChannel(deps.clock)


CHANNEL = SendOnlyChannel(name=NAME, make=_make_outbound)
