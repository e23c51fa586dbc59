"""Discord: what comes in from it, and what goes out to it."""

from __future__ import annotations

NAME = "discord"
EPHEMERAL = 64  # the flag of a message that nobody else in the channel sees
