"""What the registry knows of a chat platform. Everything else about platforms derives from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from duecourse.adapters.channels.inbound import InboundParser
from duecourse.ports.integrations import Channel, HttpPatchClient, Keys
from duecourse.ports.runtime import Clock


@dataclass(frozen=True, kw_only=True)
class SecretKey:
    """A key that the operator of a stack sets, stored in the stack's secret by the platform's name.

    The local stack reads it from the environment variable instead, and takes `local` if that is
    not set.
    """

    variable: str
    local: str = ""


@dataclass(frozen=True, kw_only=True)
class ChannelLimits:
    """What a platform takes: the size of a message, its buttons, and the pace of one process.

    `most_buttons` is 0 where a platform has none. `longest_command` is what a button may say,
    counted by `command_size`. `rest` is the pause between two messages to one place;
    `most_a_second` counts all places together, and 0 means that the platform names no limit.
    """

    longest_text: int
    most_buttons: int = 0
    longest_label: int = 0
    longest_command: int = 0
    command_size: Callable[[str], int] = len
    rest: timedelta = timedelta(0)
    most_a_second: int = 0


@dataclass(frozen=True, kw_only=True)
class InboundDeps:
    proofs: Keys
    new_id: Callable[[], str]


@dataclass(frozen=True, kw_only=True)
class OutboundDeps:
    poster: HttpPatchClient
    tokens: Keys
    clock: Clock


@dataclass(frozen=True, kw_only=True)
class Inbound:
    """`make` imports the parser when it is called: a function loads only the platform it hears.

    `proof` is the key that requests are verified with; None where everybody's word is taken.
    """

    make: Callable[[InboundDeps], InboundParser]
    proof: SecretKey | None


@dataclass(frozen=True, kw_only=True)
class Outbound:
    """`make` imports the sender when it is called. `token` is the key that it sends with."""

    make: Callable[[OutboundDeps], Channel]
    token: SecretKey
    limits: ChannelLimits


@dataclass(frozen=True, kw_only=True)
class Platform:
    """`outbound` is None for a platform of the local stack alone, which adds the sender itself.

    `is_default`: tasks that name no channel go there, where it is offered.
    """

    name: str
    inbound: Inbound
    outbound: Outbound | None
    is_default: bool = False

    def __post_init__(self) -> None:
        if self.outbound is not None and not self.is_verified:
            raise ValueError(f"{self.name}: what a deployment offers must verify its requests")

    @property
    def is_verified(self) -> bool:
        return self.inbound.proof is not None
