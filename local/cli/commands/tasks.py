"""`duecourse tasks`: list tasks, newest first."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from duecourse.domain.tasks.status import Status

from local.cli.client.run_request import add_json_flag, make_api_client, print_json
from local.cli.errors import CommandFailedError

if TYPE_CHECKING:
    from local.cli.client.http import ApiClient, ApiResponse

DEFAULT_LIMIT = 50
_PAGE_SIZE = 200
_FLAG_BY_FIELD = {
    "status": "--status",
    "type": "--type",
    "channel": "--channel",
    "sender_id": "--sender",
    "category": "--category",
    "search": "--search",
    "limit": "--limit",
}


def add_arguments(tasks: argparse.ArgumentParser) -> None:
    statuses = [str(status) for status in Status]
    tasks.add_argument(
        "--status", choices=statuses, metavar="STATUS", help=f"one of {', '.join(statuses)}"
    )
    tasks.add_argument("--type", help="only this type, for example reminder")
    tasks.add_argument("--channel", help="only this channel, for example console")
    tasks.add_argument("--sender", metavar="ID", help="only tasks of this sender")
    tasks.add_argument("--category", help="only this category of the last error, such as transient")
    tasks.add_argument(
        "--search",
        metavar="TEXT",
        help="part of the description, or the start of the id or subject",
    )
    how_many = tasks.add_mutually_exclusive_group()
    how_many.add_argument(
        "--limit",
        type=_parse_count,
        metavar="N",
        help=f"show at most N tasks; default: {DEFAULT_LIMIT}",
    )
    how_many.add_argument("--all", action="store_true", help="show all tasks")
    add_json_flag(tasks)
    tasks.set_defaults(run=run)


def _parse_count(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 10 and int(text) > 0):
        raise argparse.ArgumentTypeError(f"{text} is not a whole number of at least 1")
    return int(text)


def run(options: argparse.Namespace) -> None:
    from local.cli.client.problem import RefusedError, to_usage_error

    try:
        found, last = _fetch_tasks(options, make_api_client())
    except RefusedError as error:
        raise to_usage_error(error, _FLAG_BY_FIELD) from None
    if options.json:
        print_json({"items": found})
    else:
        _print_tasks(found, last)


def _fetch_tasks(
    options: argparse.Namespace, server: ApiClient
) -> tuple[list[dict[str, Any]], ApiResponse]:
    """Return the tasks of all pages, and the last response."""
    limit = sys.maxsize if options.all else options.limit or DEFAULT_LIMIT
    names = ("status", "type", "channel", "category", "search")
    query = {name: getattr(options, name) for name in names}
    query["sender_id"] = options.sender
    found: list[dict[str, Any]] = []
    while True:
        query["limit"] = min(_PAGE_SIZE, limit - len(found))
        answer = server.get("/tasks", query)
        found += answer.items
        cursor = answer.body.get("next_cursor")
        if not cursor or len(found) >= limit:
            if "cursor" in query:
                _print_progress("")
            return found, answer
        if cursor == query.get("cursor"):
            raise CommandFailedError("the server returned the same page twice")
        query["cursor"] = cursor
        _print_progress(f"{len(found):,} tasks so far")


def _print_progress(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def _print_tasks(tasks: list[dict[str, Any]], response: ApiResponse) -> None:
    from local.cli.client.screen import Screen
    from local.cli.client.task_view import format_tasks
    from local.cli.client.times import TimeFormatter

    if tasks:
        print("\n".join(format_tasks(tasks, TimeFormatter(response.server_time), Screen.detect())))
    elif sys.stdout.isatty():
        print("No tasks match.")
    if response.body.get("next_cursor") and sys.stderr.isatty():
        print(f"\nShowing the newest {len(tasks)}. Use --all for all of them.", file=sys.stderr)
