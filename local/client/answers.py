"""A person's answer to several tasks, each told by itself."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from local.client.asking import add_json_flag, api, print_json, task_id
from local.client.text import one_line
from local.command_errors import FailedError


def add_answer_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "ids", type=task_id, nargs="+", metavar="ID", help="their first 8 characters are enough"
    )
    add_json_flag(parser)


def give_answer(options: argparse.Namespace, verb: str, done: str) -> None:
    """POST /tasks/{id}/{verb} for each. What one refuses is no reason to leave out the next."""
    from local.client.http import path_of
    from local.client.problem import RefusedError

    server, changed, refused = api(), list[dict[str, Any]](), list[str]()
    for one in options.ids:
        try:
            task = server.post(path_of("tasks", one, verb)).body
        except RefusedError as error:
            if error.is_of_everything:
                raise
            refused.append(f"{one}: {error}")
            continue
        changed.append(task)
        if not options.json:
            print(f"{one_line(task.get('short_id'))} {done}: {one_line(task.get('description'))}")
    if options.json:
        print_json({"items": changed})
    _tell(refused, asked=len(options.ids))


def _tell(refused: list[str], *, asked: int) -> None:
    """One line for each; the last is how the command ends."""
    sys.stdout.flush()
    for line in refused[:-1]:
        print(f"duecourse: {one_line(line)}", file=sys.stderr)
    if refused:
        count = f" ({len(refused)} of {asked} refused)" if asked > 1 else ""
        raise FailedError(refused[-1] + count)
