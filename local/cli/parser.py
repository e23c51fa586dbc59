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
    explain,
    invoke,
    retry,
    stats,
    task,
    tasks,
    token,
    up,
    watch,
)
from local.cli.errors import UsageError

if TYPE_CHECKING:
    from _typeshed import SupportsWrite


class _Parser(argparse.ArgumentParser):
    def print_help(self, file: SupportsWrite[str] | None = None) -> None:
        """Print the help. argparse's own method hides write errors."""
        print(self.format_help(), end="", file=file)

    def error(self, message: str) -> NoReturn:
        """Raise the error as one line; argparse would print the usage first."""
        raise UsageError(f"{message} (see {self.prog} --help)")


def build_parser() -> argparse.ArgumentParser:
    whole = _Parser(
        prog="duecourse", description="Duecourse: its client, and all of it on a laptop"
    )
    commands = whole.add_subparsers(required=True, metavar="COMMAND")
    up.add_arguments(commands.add_parser("up", help="run the whole system on this machine"))
    tasks.add_arguments(commands.add_parser("tasks", help="list tasks, newest first"))
    task.add_arguments(commands.add_parser("task", help="all about one task"))
    add.add_arguments(commands.add_parser("add", help="add a task"))
    cancel.add_arguments(commands.add_parser("cancel", help="cancel tasks"))
    retry.add_arguments(commands.add_parser("retry", help="try what failed or is blocked again"))
    stats.add_arguments(commands.add_parser("stats", help="what went wrong, and how late it was"))
    watch.add_arguments(commands.add_parser("watch", help="what happens, as it happens"))
    explain.add_arguments(commands.add_parser("explain", help="what a failure would lead to"))
    classify.add_arguments(commands.add_parser("classify", help="sort failures, a JSON line each"))
    invoke.add_arguments(commands.add_parser("invoke", help="run one function with an event file"))
    check_handler.add_arguments(
        commands.add_parser("check-handler", help="crash a handler at every point")
    )
    token.add_arguments(commands.add_parser("token", help="who may use a deployed stack's API"))
    completion.add_arguments(commands.add_parser("completion", help="for your shell to load"))
    return whole
