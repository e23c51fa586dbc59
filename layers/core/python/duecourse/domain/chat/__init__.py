"""What people say in chat, and what they are told."""

from __future__ import annotations
