"""A person's answer to several tasks, each told by itself."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from local.cli.client.run_request import add_json_flag, api, print_json, task_id
from local.cli.client.text import one_line
from local.cli.errors import FailedError


def add_answer_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "ids", type=task_id, nargs="+", metavar="ID", help="their first 8 characters are enough"
    )
    add_json_flag(parser)


def give_answer(options: argparse.Namespace, verb: str, done: str) -> None:
    """POST /tasks/{id}/{verb} for each. What one refuses is no reason to leave out the next; a
    server that fails is, and what it did until then is told all the same."""
    from local.cli.client.http import path_of
    from local.cli.client.problem import RefusedError

    server, changed, failed = api(), list[dict[str, Any]](), list[str]()
    left = 0
    for number, one in enumerate(options.ids, start=1):
        try:
            task = server.post(path_of("tasks", one, verb)).of_task().body
        except FailedError as error:
            failed.append(f"{one}: {error}")
            if isinstance(error, RefusedError) and not error.is_of_everything:
                continue
            left = len(options.ids) - number
            break
        changed.append(task)
        if not options.json:
            print(f"{one_line(task.get('short_id'))} {done}: {one_line(task.get('description'))}")
    if options.json:
        print_json({"items": changed})
    _tell(failed, left=left, asked=len(options.ids))


def _tell(failed: list[str], *, left: int, asked: int) -> None:
    """One line for each; the last is how the command ends."""
    sys.stdout.flush()
    for line in failed[:-1]:
        print(f"duecourse: {one_line(line)}", file=sys.stderr)
    if failed:
        count = f"{left} of {asked} not tried" if left else f"{len(failed)} of {asked} refused"
        raise FailedError(f"{failed[-1]} ({count})" if asked > 1 else failed[-1])
