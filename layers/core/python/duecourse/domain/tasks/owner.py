"""Whose a task is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Owner:
    """Who sees it in chat: somebody on a channel. On another one they are somebody else."""

    channel: str
    sender_id: str
