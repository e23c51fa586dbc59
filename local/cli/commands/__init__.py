"""The commands of `duecourse`, a file each. What a command needs is loaded when it runs: one that
does more than to ask the server has a module of its own for it, outside this package."""

from __future__ import annotations
