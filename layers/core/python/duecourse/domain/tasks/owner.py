"""The owner of a task."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Owner:
    """A sender on one channel. The same person on another channel is a different owner."""

    channel: str
    sender_id: str
