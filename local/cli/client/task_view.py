"""Tasks as a person reads them: a list, one in full, its runs, its history and its errors."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from local.cli.client.json_lists import listed
from local.cli.client.screen import Screen, style_of
from local.cli.client.table import Column, table
from local.cli.client.text import one_line, wrapped
from local.cli.client.times import Times, duration

Item = Mapping[str, Any]
_NAME_WIDTH = 13
_LEAST_TEXT = 20
_NO_NEWS = {"run_id", "nominal_at", "run_status"}
_LONG = {"error", "guidance"}


def task_table(tasks: Sequence[Item], times: Times, screen: Screen) -> list[str]:
    columns = [
        Column("ID"),
        Column("TYPE"),
        Column("STATUS", is_status=True),
        Column(f"DUE ({times.zone})"),
        Column(""),
        Column("RETRY", is_number=True),
        Column("DESCRIPTION"),
    ]
    return table(columns, [_row(task, times) for task in tasks], screen)


def _row(task: Item, times: Times) -> list[Any]:
    due_at = task.get("due_at")
    return [
        task.get("short_id"),
        task.get("type"),
        _status(task),
        times.short(due_at),
        times.relative(due_at),
        f"{task.get('retry_count')}/{task.get('max_retries')}",
        task.get("description"),
    ]


def _status(task: Item) -> str:
    return f"{task.get('status')}{' (paused)' if task.get('paused') else ''}"


def task_block(task: Item, times: Times, screen: Screen) -> list[str]:
    """All that is known of it, a name in front of each fact; nothing that is not there."""
    lines: list[str] = []
    for name, value in _facts(task, times):
        if value in (None, "", [], {}):
            continue
        style = style_of(task.get("status")) if name == "status" else None
        lines += _fact(name, one_line(value), screen, style)
    return lines


def _facts(task: Item, times: Times) -> Iterator[tuple[str, Any]]:
    yield "description", task.get("description")
    yield "id", task.get("id")
    yield "type", task.get("type")
    yield "status", _status(task)
    yield "waits for", task.get("wait_text")
    yield "answer by", times.full(task.get("blocked_until"))
    yield "due", times.full(task.get("due_at"))
    yield "", _elsewhere(task, times)
    yield "repeat", task.get("repeat")
    yield "delivered", times.full(task.get("delivered_at"))
    yield "retries", f"{task.get('retry_count')} of {task.get('max_retries')}"
    yield "policy", task.get("policy")
    yield "subject", task.get("subject")
    yield "verify", "by a person or its verifier" if task.get("verify") else None
    yield "last error", task.get("last_error")
    yield "category", task.get("last_error_category")
    yield "action", task.get("recovery_action")
    yield from (("guidance", said) for said in listed(task.get("guidance")))
    yield "payload", _compact(task.get("payload"))
    yield "snooze of", task.get("snooze_of")
    yield "review of", task.get("review_of")
    if task.get("channel") != "api":  # the channel by which nobody is told
        yield "told to", f"{task.get('reply_target')}, by {task.get('channel')}"
    yield "sender", task.get("sender_id")
    yield "created", times.full(task.get("created_at"))
    yield "created by", task.get("created_by")


def _elsewhere(task: Item, times: Times) -> str | None:
    """When it is due on the clock that it goes by."""
    there = times.in_zone(task.get("due_at"), task.get("timezone"))
    return f"{there} in {task.get('timezone')}" if there else None


def _fact(name: str, value: str, screen: Screen, style: str | None) -> Iterator[str]:
    room = max(screen.width - _NAME_WIDTH, _LEAST_TEXT)
    for number, line in enumerate(wrapped(value, room)):
        told = name if number == 0 else ""
        yield screen.styled(f"{told:<{_NAME_WIDTH}}", "dim") + screen.styled(line, style)


def _compact(value: Any) -> str | None:
    return json.dumps(value, ensure_ascii=False) if value else None


def runs_table(runs: Sequence[Item], times: Times, screen: Screen) -> list[str]:
    columns = [
        Column("RUN", is_number=True),
        Column("STARTED"),
        Column("TOOK", is_number=True),
        Column("REASON"),
        Column("PHASE"),
        Column("STATUS", is_status=True),
        Column("CATEGORY"),
        Column("ERROR"),
    ]
    return table(columns, [_run_row(run, times) for run in runs], screen)


def _run_row(run: Item, times: Times) -> list[Any]:
    return [
        run.get("attempt"),
        times.second(run.get("started_at")),
        duration(run.get("started_at"), run.get("ended_at")),
        run.get("reason"),
        run.get("phase"),
        run.get("status"),
        run.get("category"),
        run.get("error"),
    ]


def history_table(events: Sequence[Item], times: Times, screen: Screen) -> list[str]:
    rows = [
        [times.second(event.get("at")), event.get("type"), _detail(event.get("detail"), times)]
        for event in events
    ]
    return table([Column("AT"), Column("EVENT"), Column("DETAIL")], rows, screen)


def _detail(detail: Any, times: Times) -> str:
    told = detail if isinstance(detail, dict) else {}
    names = sorted(told.keys() - _NO_NEWS, key=lambda name: (name in _LONG, [*told].index(name)))
    return ", ".join(f"{name}={_value(name, told[name], times)}" for name in names)


def _value(name: str, value: Any, times: Times) -> str:
    if name.endswith("_at") or name == "until":
        return times.second(value).strip()
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def errors_table(errors: Sequence[Item], times: Times, screen: Screen) -> list[str]:
    columns = [
        Column("AT"),
        Column("RUN", is_number=True),
        Column("CATEGORY"),
        Column("SURE", is_number=True),
        Column("RULE"),
        Column("ACTION"),
        Column("MESSAGE"),
    ]
    return table(columns, [_error_row(error, times) for error in errors], screen)


def _error_row(error: Item, times: Times) -> list[Any]:
    return [
        times.second(error.get("at")),
        error.get("attempt"),
        error.get("category"),
        error.get("confidence"),
        error.get("pattern"),
        error.get("action"),
        error.get("message"),
    ]


VIEWS: Mapping[str, Callable[[Sequence[Item], Times, Screen], list[str]]] = {
    "runs": runs_table,
    "history": history_table,
    "errors": errors_table,
}
