"""`duecourse watch`: print live events."""

from __future__ import annotations

import argparse
import json
import os
import sys
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, Any

from local.cli.client.run_request import add_json_flag, parse_task_id

if TYPE_CHECKING:
    from local.cli.client.screen import Screen
    from local.cli.client.times import TimeFormatter

_HIDDEN_FIELDS = ("event_id", "run_id", "nominal_at", "error")
_TYPE_WIDTH = 28
_STYLE_BY_SUFFIX = {"failed": "red", "exhausted": "red", "blocked": "yellow", "escalated": "yellow"}
_STYLE_BY_SUFFIX |= {"completed": "green", "delivered": "green", "opened": "red", "closed": "green"}


def add_arguments(watch: argparse.ArgumentParser) -> None:
    watch.add_argument(
        "--type",
        action="append",
        metavar="TYPE",
        help="only this type, such as task:failed, or breaker: for all breaker events; repeatable",
    )
    watch.add_argument("--task", type=parse_task_id, metavar="ID", help="only this task")
    watch.add_argument("--channel", help="only tasks of this channel")
    watch.add_argument("--sender", metavar="ID", help="only tasks of this sender")
    watch.add_argument("--count", type=_parse_count, metavar="N", help="exit after N events")
    add_json_flag(watch)
    watch.set_defaults(run=run)


def _parse_count(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and 0 < len(text) < 10 and int(text)):
        raise argparse.ArgumentTypeError(f"{text} is not a whole number of at least 1")
    return int(text)


def run(options: argparse.Namespace) -> None:
    from local.cli.client.feed import feed_from_env
    from local.cli.client.screen import Screen

    feed, screen = feed_from_env(os.environ), Screen.detect()
    filters = {"types": options.type, "task_id": options.task}
    filters |= {"channel": options.channel, "sender_id": options.sender}
    subscription = {name: value for name, value in filters.items() if value is not None}
    if sys.stderr.isatty():
        print(f"Watching {feed.url}. Press Ctrl-C to stop.", file=sys.stderr, flush=True)
    for event in islice(feed.events(subscription, _print_reconnecting), options.count):
        line = json.dumps(event) if options.json else _format_event(event, screen)
        print(line, flush=True)


def _print_reconnecting() -> None:
    print("duecourse: disconnected; reconnecting", file=sys.stderr, flush=True)


def _format_event(event: Any, screen: Screen) -> str:
    from local.cli.client.text import to_safe_line, truncate
    from local.cli.client.times import TimeFormatter

    fields = event if isinstance(event, dict) else {}
    kind, task_id = to_safe_line(fields.get("type", "?")), to_safe_line(fields.get("task_id", ""))
    # Relative to the event's own time, since a local stack may be in another year.
    at = fields.get("at")
    times = TimeFormatter(_parse_instant(at))
    head = f"{times.format_seconds(at)}  "
    short_id = task_id if task_id.startswith("breaker#") else task_id[:8]
    rest = f"  {short_id}  {_format_detail(fields.get('detail'), times)}".rstrip()
    room = max(0, screen.width - len(head) - _TYPE_WIDTH)
    style = _STYLE_BY_SUFFIX.get(kind.rpartition(":")[2].rpartition("_")[2])
    return f"{head}{screen.apply_style(kind.ljust(_TYPE_WIDTH), style)}{truncate(rest, room)}"


def _format_detail(detail: Any, times: TimeFormatter) -> str:
    """Return the fields, with the error last because it is the longest."""
    from local.cli.client.text import to_safe_line

    fields = detail if isinstance(detail, dict) else {}
    known = {name: value for name, value in fields.items() if value not in (None, "")}
    texts = [
        f"{name} {times.format_seconds(value).strip() if name.endswith('_at') else value}"
        for name, value in known.items()
        if name not in _HIDDEN_FIELDS
    ]
    texts += [str(known["error"])] if "error" in known else []
    return to_safe_line(", ".join(texts))


def _parse_instant(text: Any) -> datetime:
    from duecourse.domain.time.instant import from_text

    try:
        return from_text(text)
    except (TypeError, ValueError, OverflowError):
        return datetime.now(UTC)
