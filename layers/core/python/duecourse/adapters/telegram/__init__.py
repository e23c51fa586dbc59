"""Telegram: what comes in from it, and what goes out to it."""

from __future__ import annotations

NAME = "telegram"
