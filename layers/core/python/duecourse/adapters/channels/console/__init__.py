"""The console: a platform for trying things out, where nobody proves anything."""

from __future__ import annotations

from duecourse.adapters.channels.inbound import Incoming
from duecourse.adapters.channels.platform import Inbound, InboundDeps, Platform

NAME = "console"


def _make_inbound(deps: InboundDeps) -> Incoming:
    from duecourse.adapters.channels.console.inbound import ConsoleIncoming

    return ConsoleIncoming(deps.new_id)


PLATFORM = Platform(
    name=NAME, inbound=Inbound(make=_make_inbound, proof=None), outbound=None, is_default=True
)
