"""Errors that end a command, with the line to print."""

from __future__ import annotations


class UsageError(Exception):
    """Wrong usage: exit code 2."""


class CommandFailedError(Exception):
    """The command failed: exit code 1."""
