"""Chat platforms, and what they share: rate limits, length limits, buttons and errors."""

from __future__ import annotations
