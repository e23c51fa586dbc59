"""Format tasks: a list, a single task, its runs, history and errors."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from duecourse.domain.tasks.failure_kind import Kind
from duecourse.domain.tasks.failure_kind_text import describe_kind, name_kind
from duecourse.domain.tasks.recovery_action import Action

from local.cli.client.json_lists import list_or_empty
from local.cli.client.screen import Screen, status_style
from local.cli.client.table import Column, format_table
from local.cli.client.text import to_safe_line, wrap
from local.cli.client.times import TimeFormatter, format_duration

Item = Mapping[str, Any]
_NAME_WIDTH = 13
_MIN_TEXT_WIDTH = 20
_HIDDEN_DETAIL_FIELDS = {"run_id", "nominal_at", "run_status"}
_LONG_DETAIL_FIELDS = {"error", "guidance"}


def format_tasks(tasks: Sequence[Item], times: TimeFormatter, screen: Screen) -> list[str]:
    columns = [
        Column("ID"),
        Column("TYPE"),
        Column("STATUS", is_status=True),
        Column(f"DUE ({times.zone})"),
        Column(""),
        Column("RETRY", is_number=True),
        Column("DESCRIPTION"),
    ]
    return format_table(columns, [_task_row(task, times) for task in tasks], screen)


def _task_row(task: Item, times: TimeFormatter) -> list[Any]:
    due_at = task.get("due_at")
    return [
        task.get("short_id"),
        task.get("type"),
        _status_text(task),
        times.format_short(due_at),
        times.format_relative(due_at),
        f"{task.get('retry_count')}/{task.get('max_retries')}",
        task.get("description"),
    ]


def _status_text(task: Item) -> str:
    return f"{task.get('status')}{' (paused)' if task.get('paused') else ''}"


def format_task(task: Item, times: TimeFormatter, screen: Screen) -> list[str]:
    """Return one line per field that has a value."""
    lines: list[str] = []
    for name, value in _task_fields(task, times):
        if value in (None, "", [], {}):
            continue
        style = status_style(task.get("status")) if name == "status" else None
        lines += _format_field(name, to_safe_line(value), screen, style)
    return lines


def _task_fields(task: Item, times: TimeFormatter) -> Iterator[tuple[str, Any]]:
    yield "description", task.get("description")
    yield "id", task.get("id")
    yield "type", task.get("type")
    yield "status", _status_text(task)
    yield "waiting for", task.get("wait_text")
    yield "times out", times.format_full(task.get("blocked_until"))
    yield "due", times.format_full(task.get("due_at"))
    yield "", _due_in_task_zone(task, times)
    yield "repeat", task.get("repeat")
    yield "delivered", times.format_past(task.get("delivered_at"))
    yield "retries", f"{task.get('retry_count')} of {task.get('max_retries')}"
    yield "policy", task.get("policy")
    yield "subject", task.get("subject")
    yield "approval", "by a person or its verifier" if task.get("verify") else None
    yield "last error", task.get("last_error")
    yield "kind", _kind_text(task)
    yield "category", task.get("last_error_category")
    yield "action", task.get("recovery_action")
    yield from (("guidance", text) for text in list_or_empty(task.get("guidance")))
    yield "payload", _to_compact_json(task.get("payload"))
    yield "snooze of", task.get("snooze_of")
    yield "review of", task.get("review_of")
    if task.get("channel") != "api":  # tasks of the API notify nobody
        yield "sent to", f"{task.get('reply_target')} ({task.get('channel')})"
    yield "sender", task.get("sender_id")
    yield "created", times.format_past(task.get("created_at"))
    yield "created by", task.get("created_by")


def _kind_text(task: Item) -> str | None:
    """Return the kind in words. One that this client does not know is shown as it is."""
    kind = task.get("last_error_kind")
    if kind not in set(Kind):
        return kind
    # While the effect is in doubt, nothing is to be done about the error.
    is_in_doubt = task.get("recovery_action") == Action.ASK_PERSON
    return name_kind(Kind(kind)) if is_in_doubt else describe_kind(Kind(kind))


def _name_class(failure: Item) -> str | None:
    likely = failure.get("likely")
    return f"probably {likely.get('kind')}" if isinstance(likely, dict) else failure.get("kind")


def _due_in_task_zone(task: Item, times: TimeFormatter) -> str | None:
    """Return the due time in the task's own zone, or None if it equals the local one."""
    there = times.format_in_zone(task.get("due_at"), task.get("timezone"))
    return f"{there} in {task.get('timezone')}" if there else None


def _format_field(name: str, value: str, screen: Screen, style: str | None) -> Iterator[str]:
    room = max(screen.width - _NAME_WIDTH, _MIN_TEXT_WIDTH)
    for number, line in enumerate(wrap(value, room)):
        label = name if number == 0 else ""
        yield screen.apply_style(f"{label:<{_NAME_WIDTH}}", "dim") + screen.apply_style(line, style)


def _to_compact_json(value: Any) -> str | None:
    return json.dumps(value, ensure_ascii=False) if value else None


def format_runs(runs: Sequence[Item], times: TimeFormatter, screen: Screen) -> list[str]:
    columns = [
        Column("RUN", is_number=True),
        Column("STARTED"),
        Column("DURATION", is_number=True),
        Column("REASON"),
        Column("PHASE"),
        Column("STATUS", is_status=True),
        Column("CATEGORY"),
        Column("KIND"),
        Column("ERROR"),
    ]
    return format_table(columns, [_run_row(run, times) for run in runs], screen)


def _run_row(run: Item, times: TimeFormatter) -> list[Any]:
    return [
        run.get("attempt"),
        times.format_seconds(run.get("started_at")),
        format_duration(run.get("started_at"), run.get("ended_at")),
        run.get("reason"),
        run.get("phase"),
        run.get("status"),
        run.get("category"),
        _name_class(run),
        run.get("error"),
    ]


def format_history(events: Sequence[Item], times: TimeFormatter, screen: Screen) -> list[str]:
    rows = [
        [
            times.format_seconds(event.get("at")),
            event.get("type"),
            _format_detail(event.get("detail"), times),
        ]
        for event in events
    ]
    return format_table([Column("AT"), Column("EVENT"), Column("DETAIL")], rows, screen)


def _format_detail(detail: Any, times: TimeFormatter) -> str:
    fields = detail if isinstance(detail, dict) else {}
    names = sorted(
        fields.keys() - _HIDDEN_DETAIL_FIELDS,
        key=lambda name: (name in _LONG_DETAIL_FIELDS, [*fields].index(name)),
    )
    return ", ".join(f"{name}={_format_value(name, fields[name], times)}" for name in names)


def _format_value(name: str, value: Any, times: TimeFormatter) -> str:
    if name.endswith("_at") or name == "until":
        return times.format_seconds(value).strip()
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def format_errors(errors: Sequence[Item], times: TimeFormatter, screen: Screen) -> list[str]:
    columns = [
        Column("AT"),
        Column("RUN", is_number=True),
        Column("CATEGORY"),
        Column("KIND"),
        Column("CONFIDENCE", is_number=True),
        Column("RULE"),
        Column("ACTION"),
        Column("MESSAGE"),
    ]
    return format_table(columns, [_error_row(error, times) for error in errors], screen)


def _error_row(error: Item, times: TimeFormatter) -> list[Any]:
    return [
        times.format_seconds(error.get("at")),
        error.get("attempt"),
        error.get("category"),
        _name_class(error),
        error.get("confidence"),
        error.get("pattern"),
        error.get("action"),
        error.get("message"),
    ]


VIEWS: Mapping[str, Callable[[Sequence[Item], TimeFormatter, Screen], list[str]]] = {
    "runs": format_runs,
    "history": format_history,
    "errors": format_errors,
}
