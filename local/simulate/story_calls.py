"""Say what a call of a function did: which table or queue it wrote, and which task it concerns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from duecourse.domain.events.stream_change import StreamChange

from local.runtime.call_interceptor import Call
from local.simulate.describe_change import describe_change
from local.simulate.story_entry import StoryEntry, Weight
from local.simulate.table_outages import tables_of

_TASKS = "TasksTable"
_WRITES = frozenset({"PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems", "BatchWriteItem"})
# The functions that run all the time. They are told of only if they change a task or send one.
_ROUTINE_FUNCTIONS = frozenset({"scanner", "sweeper", "alerts", "live", "authorizer"})
_SAME_INSTANT = timedelta(milliseconds=1)


class CallDescriber:
    """`names` by the ids of tasks. `changes` are those of the tasks' stream."""

    def __init__(self, names: Mapping[str, str], changes: Sequence[StreamChange]) -> None:
        self._names = names
        self._changes = list(changes)

    def describe(self, call: Call, at: datetime, actor: str) -> StoryEntry:
        ids = [one for one in self._names if one.encode() in call.raw_bytes]
        tasks = frozenset(self._names[one] for one in ids)
        if call.service == "sqs":
            return StoryEntry(at, actor, _describe_send(call, tasks), Weight.SENT, tasks)
        if call.service != "dynamodb" or call.operation not in _WRITES:
            return StoryEntry(at, actor, f"{call.service}.{call.operation}", Weight.ROUTINE, tasks)
        return self._describe_write(call, at, actor, ids)

    def _describe_write(
        self, call: Call, at: datetime, actor: str, ids: Sequence[str]
    ) -> StoryEntry:
        tables = tables_of(call.body)
        tasks = frozenset(self._names[one] for one in ids)
        text = f"writes {' and '.join(tables)}"
        if error := _find_error(call.reply):
            weight = Weight.CHANGE if _TASKS in tables else Weight.DERIVED
            return StoryEntry(at, actor, f"{text}{_about(tasks)}: {error}", weight, tasks)
        if _TASKS not in tables:
            is_routine = call.function in _ROUTINE_FUNCTIONS
            weight = Weight.ROUTINE if is_routine else Weight.DERIVED
            return StoryEntry(at, actor, f"{text}{_about(tasks)}", weight, tasks)
        changes = [
            f"{self._names[change.task_id or '']}: {describe_change(change.old, change.new)}"
            for change in self._take_changes(ids, at)
        ]
        return StoryEntry(at, actor, f"{text}, {'; '.join(changes)}", Weight.CHANGE, tasks)

    def _take_changes(self, ids: Sequence[str], at: datetime) -> list[StreamChange]:
        """Return the next change of each of these tasks that was written at this time."""
        found: dict[str | None, StreamChange] = {}
        for change in self._changes:
            if change.task_id in ids and abs(change.written_at - at) <= _SAME_INSTANT:
                found.setdefault(change.task_id, change)
        for change in found.values():
            self._changes.remove(change)
        return list(found.values())


def _describe_send(call: Call, tasks: frozenset[str]) -> str:
    queue = str(call.body.get("QueueUrl", "")).rpartition("/")[2]
    if not call.operation.startswith("SendMessage"):
        return f"{call.operation} {queue}{_about(tasks)}"
    if error := _find_error(call.reply):
        return f"sends to {queue}{_about(tasks)}: {error}"
    delays = [one.get("DelaySeconds", 0) for one in call.body.get("Entries", [call.body])]
    delay = f" with a delay of {max(delays)} s" if any(delays) else ""
    return f"sends to {queue}{_about(tasks)}{delay}"


def _about(tasks: frozenset[str]) -> str:
    return f", {', '.join(sorted(tasks))}" if tasks else ""


def _find_error(reply: Mapping[str, Any]) -> str | None:
    """Return why the call was refused, or None if it succeeded."""
    code = (reply.get("Error") or {}).get("Code")
    if code in ("ConditionalCheckFailedException", "TransactionCanceledException"):
        return "refused, because its condition does not hold"
    return f"refused ({code})" if code else None
