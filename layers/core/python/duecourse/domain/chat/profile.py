"""What is remembered of a person who talks to us."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Profile:
    """`timezone` is what they said by /timezone; None until they do."""

    channel: str
    sender_id: str
    timezone: str | None = None
