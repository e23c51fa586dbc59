"""The commands of `duecourse`, a file each. What a command needs is loaded when it runs."""

from __future__ import annotations
