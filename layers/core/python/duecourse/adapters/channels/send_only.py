"""The description of a channel that only sends: nobody can answer there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duecourse.adapters.channels.platform import OutboundDeps
    from duecourse.ports.integrations import Channel


@dataclass(frozen=True, kw_only=True)
class SendOnlyChannel:
    """`make` imports the sender when called, and returns None if the stack does not offer it.

    `only_target`: the one reply target that it can send to; None if every name is accepted.
    `is_reminder_default`: reminders without a channel use it, if the stack offers it.
    """

    name: str
    make: Callable[[OutboundDeps], Channel | None]
    only_target: str | None = None
    is_reminder_default: bool = False
