"""The argument parser of the `duecourse` command."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, NoReturn

from local.cli.commands import (
    add,
    cancel,
    check_handler,
    classify,
    completion,
    doctor,
    explain,
    forget,
    invoke,
    retry,
    simulate,
    stats,
    task,
    tasks,
    token,
    up,
    watch,
    webhook_key,
)
from local.cli.errors import UsageError

if TYPE_CHECKING:
    from _typeshed import SupportsWrite


_COMMANDS = {
    "up": (up.add_arguments, "run the whole system on this machine"),
    "tasks": (tasks.add_arguments, "list tasks, newest first"),
    "task": (task.add_arguments, "show one task"),
    "add": (add.add_arguments, "create a task"),
    "cancel": (cancel.add_arguments, "cancel tasks"),
    "retry": (retry.add_arguments, "retry failed, blocked or waiting tasks now"),
    "forget": (forget.add_arguments, "delete everything that is stored about a sender"),
    "stats": (stats.add_arguments, "show errors, recoveries and lateness"),
    "doctor": (doctor.add_arguments, "check a running stack and say what is missing"),
    "watch": (watch.add_arguments, "print events as they happen"),
    "explain": (explain.add_arguments, "show what would happen after a failure"),
    "classify": (classify.add_arguments, "classify failures read from standard input"),
    "invoke": (invoke.add_arguments, "run one function with an event file"),
    "simulate": (
        simulate.add_arguments,
        "run the whole system in a simulated world, with faults from a seed",
    ),
    "check-handler": (check_handler.add_arguments, "crash a handler at every point of a run"),
    "token": (token.add_arguments, "create, replace or revoke API tokens of a deployed stack"),
    "webhook-key": (webhook_key.add_arguments, "print the key that verifies webhooks to a host"),
    "completion": (completion.add_arguments, "print a completion script for your shell"),
}


class _Parser(argparse.ArgumentParser):
    def print_help(self, file: SupportsWrite[str] | None = None) -> None:
        """Print the help. argparse's own method hides write errors."""
        print(self.format_help(), end="", file=file)

    def error(self, message: str) -> NoReturn:
        """Raise the error as one line; argparse would print the usage first."""
        raise UsageError(f"{message} (see {self.prog} --help)")


def build_parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="duecourse",
        description="Manage scheduled tasks, or run the whole system on this machine.",
        epilog="DUECOURSE_URL and DUECOURSE_TOKEN select the server; the default is the local"
        " stack. `duecourse COMMAND --help` shows the flags of a command.",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, (add_arguments, summary) in _COMMANDS.items():
        description = f"{summary[0].upper()}{summary[1:]}."
        add_arguments(commands.add_parser(name, help=summary, description=description))
    return parser
