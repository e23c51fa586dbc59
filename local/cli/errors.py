"""Errors that end a command, with the line to print."""

from __future__ import annotations


class UsageError(Exception):
    """Wrong usage: exit code 2."""


class CommandFailedError(Exception):
    """The command failed: exit code 1. `hint` says what to do, and is printed after `message`."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(f"{message}; {hint}" if hint else message)
        self.message = message
