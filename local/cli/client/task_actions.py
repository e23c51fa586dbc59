"""Apply one action to several tasks and report each result."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from local.cli.client.run_request import add_json_flag, make_api_client, parse_task_id, print_json
from local.cli.client.text import to_safe_line
from local.cli.errors import CommandFailedError


def add_task_action_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "ids",
        type=parse_task_id,
        nargs="+",
        metavar="ID",
        help="the first 8 characters are enough",
    )
    add_json_flag(parser)


def post_task_action(options: argparse.Namespace, action: str, done_text: str) -> None:
    """POST /tasks/{id}/{action} for each task.

    A rejected task does not stop the others; a failing server does. Results so far are printed in
    either case.
    """
    from local.cli.client.http import build_path
    from local.cli.client.problem import RefusedError

    server, changed, failed = make_api_client(), list[dict[str, Any]](), list[str]()
    left = 0
    for number, one in enumerate(options.ids, start=1):
        try:
            task = server.post(build_path("tasks", one, action)).require_task().body
        except CommandFailedError as error:
            failed.append(f"{one}: {error}")
            if isinstance(error, RefusedError) and not error.is_fatal:
                continue
            left = len(options.ids) - number
            break
        changed.append(task)
        if not options.json:
            texts = (task.get("short_id"), task.get("description"))
            short_id, description = map(to_safe_line, texts)
            print(f"{done_text} {short_id}: {description}")
    if options.json:
        print_json({"items": changed})
    _report_failures(failed, untried_count=left, total_count=len(options.ids))


def _report_failures(failed: list[str], *, untried_count: int, total_count: int) -> None:
    """Print one line per failure; the last one is raised as the command's error."""
    sys.stdout.flush()
    for line in failed[:-1]:
        print(f"duecourse: {to_safe_line(line)}", file=sys.stderr)
    if failed:
        count = (
            f"{untried_count} of {total_count} not tried"
            if untried_count
            else f"{len(failed)} of {total_count} refused"
        )
        raise CommandFailedError(f"{failed[-1]} ({count})" if total_count > 1 else failed[-1])
