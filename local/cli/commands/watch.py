"""`duecourse watch`: what happens, as it happens."""

from __future__ import annotations

import argparse
import json
import os
import sys
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, Any

from local.cli.client.run_request import add_json_flag, task_id

if TYPE_CHECKING:
    from local.cli.client.screen import Screen

_UNTOLD = ("event_id", "run_id", "nominal_at", "error")
_TYPE_WIDTH = 28
_STYLES = {"failed": "red", "exhausted": "red", "blocked": "yellow", "escalated": "yellow"}
_STYLES |= {"completed": "green", "delivered": "green", "opened": "red", "closed": "green"}


def add_arguments(watch: argparse.ArgumentParser) -> None:
    watch.add_argument(
        "--type",
        action="append",
        metavar="TYPE",
        help="for example task:failed, or breaker: for all of them; may be given again",
    )
    watch.add_argument("--task", type=task_id, metavar="ID", help="only of this task")
    watch.add_argument("--channel", help="only of tasks of this channel")
    watch.add_argument("--sender", metavar="ID", help="only of their tasks")
    watch.add_argument("--count", type=_count, metavar="N", help="leave after so many")
    add_json_flag(watch)
    watch.set_defaults(run=run)


def _count(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and 0 < len(text) < 10 and int(text)):
        raise argparse.ArgumentTypeError(f"{text} is not a number of events")
    return int(text)


def run(options: argparse.Namespace) -> None:
    from local.cli.client.feed import feed_from
    from local.cli.client.screen import Screen

    feed, screen = feed_from(os.environ), Screen.of_this_process()
    asked = {"types": options.type, "task_id": options.task}
    asked |= {"channel": options.channel, "sender_id": options.sender}
    wanted = {name: value for name, value in asked.items() if value is not None}
    for event in islice(feed.events(wanted, _lost), options.count):
        line = json.dumps(event) if options.json else _line(event, screen)
        print(line, flush=True)


def _lost() -> None:
    print("duecourse: the connection ended; connecting again", file=sys.stderr, flush=True)


def _line(event: Any, screen: Screen) -> str:
    from local.cli.client.text import fitted, one_line
    from local.cli.client.times import Times

    told = event if isinstance(event, dict) else {}
    kind, task = one_line(told.get("type", "?")), one_line(told.get("task_id", ""))
    # A local stack may be in another year: what happens now is near.
    head = f"{Times(_instant(told.get('at'))).second(told.get('at'))}  "
    named = task if task.startswith("breaker#") else task[:8]
    rest = f"  {named}  {_summary(told.get('detail'))}".rstrip()
    room = max(0, screen.width - len(head) - _TYPE_WIDTH)
    style = _STYLES.get(kind.rpartition(":")[2].rpartition("_")[2])
    return f"{head}{screen.styled(kind.ljust(_TYPE_WIDTH), style)}{fitted(rest, room)}"


def _summary(detail: Any) -> str:
    """The error last: it is the longest."""
    from local.cli.client.text import one_line

    told = detail if isinstance(detail, dict) else {}
    known = {name: value for name, value in told.items() if value not in (None, "")}
    texts = [f"{name} {value}" for name, value in known.items() if name not in _UNTOLD]
    texts += [str(known["error"])] if "error" in known else []
    return one_line(", ".join(texts))


def _instant(text: Any) -> datetime:
    from duecourse.domain.time.instant import from_text

    try:
        return from_text(text)
    except (TypeError, ValueError, OverflowError):
        return datetime.now(UTC)
