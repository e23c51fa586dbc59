"""What the program decides by tasks read from the table. Texts for people are left out."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from duecourse.adapters.aws.dynamodb.models import TaskItem
from duecourse.adapters.aws.dynamodb.packed_attributes import unpack
from duecourse.adapters.aws.dynamodb.task_mapper import to_item, to_task
from duecourse.domain.chat.notifications_for import notifications_for
from duecourse.domain.journal.history import events_between
from duecourse.domain.lifecycle.advance_series import waited_too_long_for
from duecourse.domain.lifecycle.reclassification import reopen
from duecourse.domain.lifecycle.verification import is_awaiting_person
from duecourse.domain.tasks.task import Task
from duecourse.domain.tasks.wait_text import describe_wait
from duecourse.domain.time.instant import to_text
from duecourse.usecases.journal.overview import Overview, read_overview

from tests.support.builders.moments import HOUR, NOW
from tests.support.builders.runs import run_of
from tests.support.builders.tasks import claim_task
from tests.support.chat_harness import ChatHarness
from tests.support.fakes.limits import MemoryBreakers, MemoryBudgets
from tests.support.fakes.tasks import MemoryStore

Item = dict[str, Any]
_DETAIL_KEYS = ("wait", "review_task_id")


def to_stored_item(task: Task) -> Item:
    """Return the item without packing: it has to be readable in JSON."""
    item: Item = unpack(to_item(task, shard_count=4, retention=timedelta(days=30)).serialize())
    return item


def observe(items: Mapping[str, Item]) -> dict[str, Any]:
    tasks = {name: to_task(TaskItem.from_raw_data(item)) for name, item in items.items()}
    late = waited_too_long_for(tasks["late series"])
    return {
        "needs a person": _needs_person(tasks),
        "to verify": [name for name in tasks if is_awaiting_person(tasks[name])],
        "comes when quiet hours are off": _due_after_quiet_hours_off(tasks["held"]),
        "reason of the next run": {name: _reason(tasks[name]) for name in ("reviewed", "retry")},
        "events": {
            "requeued": _event_texts(tasks["retry"], tasks["requeued"]),
            "held": _event_texts(tasks["due"], tasks["held"]),
            "reviewed": _event_texts(tasks["awaiting review"], tasks["reviewed"]),
            "left to a person": _event_texts(tasks["for its verifier"], tasks["for a person"]),
        },
        "notices": _notification_kinds(tasks["for its verifier"], tasks["for a person"]),
        "guidance before it failed": len(reopen(tasks["awaiting review"]).task_before.guidance),
        "waited too long for": str(late.reason) if late else None,
    }


def _needs_person(tasks: Mapping[str, Task]) -> list[str]:
    """Read each one alone: some are the same task at another time."""
    return [name for name in tasks if _overview(tasks[name]).needs_person]


def _overview(task: Task) -> Overview:
    breakers, budgets = MemoryBreakers(), MemoryBudgets()
    return read_overview(store=MemoryStore(task), breakers=breakers, budgets=budgets, now=NOW)


def _due_after_quiet_hours_off(held: Task) -> str:
    harness = ChatHarness(held).set_timezone("UTC")
    harness.say("/quiet off")
    return to_text(harness.task.due_at)


def _reason(task: Task) -> str:
    return str(run_of(claim_task(task, "run-9", at=NOW + HOUR)).reason)


def _event_texts(old: Task, new: Task) -> list[str]:
    """Return the type of each event and its detail fields for programs."""
    return [
        " ".join(
            [event.type, *(name for name in _DETAIL_KEYS if event.detail.get(name) is not None)]
        )
        for event in events_between(old, new, at=NOW)
    ]


def _notification_kinds(old: Task, new: Task) -> list[str]:
    return [str(notification.kind) for notification in notifications_for(old, new)]


def main() -> None:
    items = json.load(sys.stdin)
    task = to_task(TaskItem.from_raw_data(items["held"]))
    json.dump({"seen": observe(items), "a sentence": describe_wait(task.wait)}, sys.stdout)
