"""`duecourse forget`: delete everything that is stored about a sender."""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict, astuple, dataclass

from local.cli.client.run_request import add_json_flag, make_api_client, print_json
from local.cli.client.text import to_safe_line
from local.cli.errors import CommandFailedError, UsageError

_PATH = "/senders/forget"


@dataclass(frozen=True)
class _Total:
    deleted_tasks: int
    deleted_settings: bool
    deleted_dead_letters: int


def add_arguments(forget: argparse.ArgumentParser) -> None:
    forget.add_argument(
        "sender", type=_parse_sender, metavar="CHANNEL:SENDER", help="such as telegram:4711"
    )
    forget.add_argument("--yes", action="store_true", help="delete without asking")
    add_json_flag(forget)
    forget.set_defaults(run=run)


def _parse_sender(text: str) -> tuple[str, str]:
    channel, colon, sender_id = text.partition(":")
    if not (channel and colon and sender_id):
        raise argparse.ArgumentTypeError(f"{text} is not CHANNEL:SENDER, such as telegram:4711")
    return channel, sender_id


def run(options: argparse.Namespace) -> None:
    channel, sender_id = options.sender
    sender = to_safe_line(f"{channel}:{sender_id}")
    if not options.yes:
        _confirm(sender)
    total = _forget(channel, sender_id, has_progress=not options.json)
    if options.json:
        print_json(asdict(total) | {"complete": True})
    elif any(astuple(total)):
        count, letters = total.deleted_tasks, total.deleted_dead_letters
        tasks = "1 task" if count == 1 else f"{count} tasks"
        dead = f", {letters} dead letter{'s' if letters > 1 else ''}" if letters else ""
        print(f"Deleted {tasks}{dead} and the settings. The history is erased within minutes.")
    else:
        print(
            f"Nothing was stored for {sender}, so nothing was deleted."
            " Check the channel and the sender's id."
        )


def _confirm(sender: str) -> None:
    if not sys.stdin.isatty():
        raise UsageError("give --yes to delete without being asked")
    print(f"Delete all tasks, history and settings of {sender}? Type yes: ", end="")
    sys.stdout.flush()
    if sys.stdin.readline().strip().lower() != "yes":
        raise CommandFailedError("nothing was deleted")


def _forget(channel: str, sender_id: str, *, has_progress: bool) -> _Total:
    """Request it until it is complete. Return what all requests deleted."""
    server, count, letter_count = make_api_client(), 0, 0
    while True:
        body = server.post(_PATH, {"channel": channel, "sender_id": sender_id}).body
        deleted, is_complete = body.get("deleted_tasks"), body.get("complete")
        has_settings = body.get("deleted_settings")
        letters = body.get("deleted_dead_letters", 0)  # older stacks delete none
        if (
            not (isinstance(deleted, int) and isinstance(letters, int))
            or not isinstance(is_complete, bool)
            or not isinstance(has_settings, bool)
        ):
            raise CommandFailedError("the response is not a result; check DUECOURSE_URL")
        count, letter_count = count + deleted, letter_count + letters
        if is_complete:
            return _Total(count, has_settings, letter_count)
        if has_progress:
            print(f"deleted {count} tasks so far", file=sys.stderr)
