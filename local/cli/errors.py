"""How a command may end other than well, each with the one line that is said about it."""

from __future__ import annotations


class UsageError(Exception):
    """Exit code 2."""


class CommandFailedError(Exception):
    """Exit code 1."""
