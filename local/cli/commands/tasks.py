"""`duecourse tasks`: a list of them, newest first."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from duecourse.domain.tasks.status import Status

from local.cli.client.run_request import add_json_flag, api, print_json
from local.cli.errors import FailedError

if TYPE_CHECKING:
    from local.cli.client.http import Answer, Api

DEFAULT_LIMIT = 50
_PAGE = 200
_FLAGS = {
    "status": "--status",
    "type": "--type",
    "channel": "--channel",
    "sender_id": "--sender",
    "category": "--category",
    "search": "--search",
    "limit": "--limit",
}


def add_arguments(tasks: argparse.ArgumentParser) -> None:
    tasks.add_argument("--status", choices=[str(status) for status in Status], metavar="STATUS")
    tasks.add_argument("--type", help="for example reminder")
    tasks.add_argument("--channel", help="for example console")
    tasks.add_argument("--sender", metavar="ID", help="whose they are")
    tasks.add_argument("--category", help="of the last error, for example transient")
    tasks.add_argument(
        "--search", metavar="TEXT", help="part of the description, or how the id or subject begins"
    )
    how_many = tasks.add_mutually_exclusive_group()
    how_many.add_argument("--limit", type=_count, metavar="N", help=f"default: {DEFAULT_LIMIT}")
    how_many.add_argument("--all", action="store_true", help="all there are")
    add_json_flag(tasks)
    tasks.set_defaults(run=run)


def _count(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 10 and int(text) > 0):
        raise argparse.ArgumentTypeError(f"{text} is not a whole number from 1 on")
    return int(text)


def run(options: argparse.Namespace) -> None:
    from local.cli.client.problem import RefusedError, bad_flags

    try:
        found, last = _listed(options, api())
    except RefusedError as error:
        raise bad_flags(error, _FLAGS) from None
    if options.json:
        print_json({"items": found})
    else:
        _show(found, last)


def _listed(options: argparse.Namespace, server: Api) -> tuple[list[dict[str, Any]], Answer]:
    """Page by page, and the last answer."""
    wanted = sys.maxsize if options.all else options.limit or DEFAULT_LIMIT
    names = ("status", "type", "channel", "category", "search")
    query = {name: getattr(options, name) for name in names}
    query["sender_id"] = options.sender
    found: list[dict[str, Any]] = []
    while True:
        query["limit"] = min(_PAGE, wanted - len(found))
        answer = server.get("/tasks", query)
        found += answer.items
        cursor = answer.body.get("next_cursor")
        if not cursor or len(found) >= wanted:
            if "cursor" in query:
                _progress("")
            return found, answer
        if cursor == query.get("cursor"):
            raise FailedError("the list does not end: the server gives the same page again")
        query["cursor"] = cursor
        _progress(f"{len(found):,} tasks, there are more")


def _progress(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def _show(found: list[dict[str, Any]], last: Answer) -> None:
    from local.cli.client.screen import Screen
    from local.cli.client.task_view import task_table
    from local.cli.client.times import Times

    if found:
        print("\n".join(task_table(found, Times(last.now), Screen.of_this_process())))
    elif sys.stdout.isatty():
        print("There are none.")
    if last.body.get("next_cursor") and sys.stderr.isatty():
        print(f"\nThe newest {len(found)}; --all has more.", file=sys.stderr)
