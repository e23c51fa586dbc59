"""The `duecourse` command: all that it can be asked, and how it ends."""

from __future__ import annotations

import argparse
import io
import os
import sys
import warnings
from collections.abc import Sequence
from typing import NoReturn

from local.client.text import one_line
from local.command_errors import FailedError, UsageError
from local.commands import (
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
)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    warnings.simplefilter("ignore")  # what libraries say to programmers is not for users
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # no terminal is too poor to be told something
    try:
        options = parser().parse_args(arguments)
        options.run(options)
        sys.stdout.flush()
    except UsageError as error:
        _leave(2, str(error))
    except FailedError as error:
        _leave(1, str(error))
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        os._exit(0)  # the reader has gone; nothing is left to say
    sys.exit(0)


def _leave(code: int, message: str) -> NoReturn:
    print(f"duecourse: {one_line(message)}", file=sys.stderr)
    sys.exit(code)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """One line, where argparse would print its usage first."""
        raise UsageError(f"{message} (see {self.prog} --help)")


def parser() -> argparse.ArgumentParser:
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
    explain.add_arguments(commands.add_parser("explain", help="what a failure would lead to"))
    classify.add_arguments(commands.add_parser("classify", help="sort failures, a JSON line each"))
    invoke.add_arguments(commands.add_parser("invoke", help="run one function with an event file"))
    check_handler.add_arguments(
        commands.add_parser("check-handler", help="crash a handler at every point")
    )
    token.add_arguments(commands.add_parser("token", help="who may use a deployed stack's API"))
    completion.add_arguments(commands.add_parser("completion", help="for your shell to load"))
    return whole


if __name__ == "__main__":
    main()
