"""What a task is and how it moves. No clock, no chance, no input or output."""

from __future__ import annotations
