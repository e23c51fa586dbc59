"""Duecourse: tasks that run at their time, and that know what to do when they fail."""

from __future__ import annotations

__version__ = "0.1.0"
