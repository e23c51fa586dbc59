"""The console: a local platform for trying things out, without verification."""

from __future__ import annotations

from typing import TYPE_CHECKING

from duecourse.adapters.channels.platform import Inbound, InboundDeps, Platform

if TYPE_CHECKING:
    from duecourse.adapters.channels.inbound import InboundParser

NAME = "console"


def _make_inbound(deps: InboundDeps) -> InboundParser:
    from duecourse.adapters.channels.console.inbound import ConsoleInboundParser

    return ConsoleInboundParser(deps.new_id)


PLATFORM = Platform(
    name=NAME, inbound=Inbound(make=_make_inbound, proof=None), outbound=None, is_default=True
)
