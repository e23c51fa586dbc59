"""What all chat platforms are spoken to alike in: pace, length, buttons and errors."""

from __future__ import annotations
