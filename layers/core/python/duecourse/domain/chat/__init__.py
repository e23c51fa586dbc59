"""Chat: messages from people, and the replies and notifications they get."""

from __future__ import annotations
