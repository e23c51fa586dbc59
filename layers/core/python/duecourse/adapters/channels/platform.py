"""The description of a chat platform in the registry, from which everything else is derived."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duecourse.adapters.channels.inbound import InboundParser
    from duecourse.ports.integrations import (
        Channel,
        HttpPatchClient,
        RotatingKeys,
        TokenSource,
        Topic,
    )
    from duecourse.ports.runtime import Clock


@dataclass(frozen=True, kw_only=True)
class SecretKey:
    """A key set by the operator, stored in the stack's secret under the platform's name.

    The local stack reads it from the environment variable `variable`, with `local` as default.
    """

    variable: str
    local: str = ""


@dataclass(frozen=True, kw_only=True)
class ChannelLimits:
    """A platform's limits for message length, buttons and rate.

    `most_buttons` is 0 if the platform has no buttons. `longest_command` limits a button's command,
    measured by `command_size`. `rest` is the minimum interval between two messages to one target;
    `most_a_second` limits all targets together, and 0 means no limit. Both apply per process.
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
    proofs: RotatingKeys
    new_id: Callable[[], str]


@dataclass(frozen=True, kw_only=True)
class OutboundDeps:
    """`topic` sends e-mail; None if the stack has none."""

    http_client: HttpPatchClient
    tokens: TokenSource
    clock: Clock
    topic: Topic | None = None


@dataclass(frozen=True, kw_only=True)
class Inbound:
    """`make` imports the parser when called, so a function loads only the platform it serves.

    `proof` is the key that verifies requests; None if the platform does not verify them.
    """

    make: Callable[[InboundDeps], InboundParser]
    proof: SecretKey | None


@dataclass(frozen=True, kw_only=True)
class Outbound:
    """`make` imports the sender when called. `token` is the key that it authenticates with."""

    make: Callable[[OutboundDeps], Channel]
    token: SecretKey
    limits: ChannelLimits


@dataclass(frozen=True, kw_only=True)
class Platform:
    """`outbound` is None if the platform exists only locally; the local stack adds the sender.

    `is_default`: tasks without a channel use this platform, if the stack offers it. `team_word` is
    what the platform calls a team of users, if it has teams.
    """

    name: str
    inbound: Inbound
    outbound: Outbound | None
    is_default: bool = False
    team_word: str | None = None

    def __post_init__(self) -> None:
        if self.outbound is not None and not self.is_verified:
            raise ValueError(f"{self.name}: what a deployment offers must verify its requests")

    @property
    def is_verified(self) -> bool:
        return self.inbound.proof is not None
