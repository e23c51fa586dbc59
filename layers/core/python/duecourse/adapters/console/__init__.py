"""The console: a platform for trying things out, where nobody proves anything."""

from __future__ import annotations

NAME = "console"
