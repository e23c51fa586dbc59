"""List what happened in a simulation: operations, answers, faults, calls and effects."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta

from duecourse.domain.time.instant import from_text

from local.simulate.fault_texts import FAULT_TEXTS
from local.simulate.observed import Observed
from local.simulate.operations import OPERATIONS
from local.simulate.simulation import Outcome
from local.simulate.story_calls import CallDescriber
from local.simulate.story_entry import StoryEntry, Weight

MAX_TEXT = 70
_ANSWER = re.compile(r"(GET|POST|PUT|PATCH|DELETE) (\S+) (\d{3})(.*)")
_FAULT = re.compile(r"fault: (\S+) at (.*?)(?: in (\w+) (\d+))?")
# They happen in nearly every simulation, and hardly ever matter.
_HARMLESS = frozenset({"cold-start", "cut-batch", "index-lag"})


def list_entries(outcome: Outcome, observed: Observed) -> list[StoryEntry]:
    """Return all that happened, in order."""
    names = _name_tasks(observed)
    describer = CallDescriber(names, observed.changes)
    entries = []
    for n, line in enumerate(outcome.lines):
        seconds, _, text = line.partition(" ")
        at = observed.starts_at + timedelta(seconds=float(seconds))
        call = outcome.calls_by_line.get(n)
        if call is not None:
            function, number, _ = text.split(" ")
            entries.append(describer.describe(call, at, f"{function} {number}"))
        else:
            entries.append(_describe_line(text, at, names))
    return sorted([*entries, *_list_effects(observed, names)], key=lambda one: one.at)


def _name_tasks(observed: Observed) -> Mapping[str, str]:
    """Return `task 1` and so on, by id. Tasks that chat created have no number."""
    names = {task_id: f"task {one.name}" for task_id, one in observed.records.items()}
    names |= {one.id: f"task {one.number}" for one in observed.created.values()}
    return {
        one.task_id: f"task {one.task_id[:8]}" for one in observed.changes if one.task_id
    } | names


def _describe_line(text: str, at: datetime, names: Mapping[str, str]) -> StoryEntry:
    if text.split(" ")[0] in OPERATIONS:
        return StoryEntry(at, "operation", text, Weight.DRIVER)
    if found := _FAULT.fullmatch(text):
        name, point, function, number = found.groups()
        return _describe_fault(name, point, f"{function} {number}" if function else "", at)
    if found := _ANSWER.fullmatch(text):
        method, target, status, reason = found.groups()
        path = replace_ids(target, names)
        return StoryEntry(at, "answer", f"{status} to {method} {path}{reason}", Weight.DRIVER)
    return StoryEntry(at, "", text, Weight.DRIVER)


def _describe_fault(name: str, point: str, actor: str, at: datetime) -> StoryEntry:
    place = point.removesuffix(f" {name}")
    meaning = f": {FAULT_TEXTS[name]}" if name in FAULT_TEXTS else ""
    weight = Weight.SENT if name in _HARMLESS else Weight.DRIVER
    return StoryEntry(at, actor, f"FAULT {name} at {place}{meaning}", weight)


def replace_ids(text: str, names: Mapping[str, str]) -> str:
    """Return the text with `task-1` in place of ids."""
    for task_id, name in names.items():
        text = text.replace(task_id, name.replace(" ", "-"))
    return text


def _list_effects(observed: Observed, names: Mapping[str, str]) -> Iterator[StoryEntry]:
    """Yield what left the stack: messages to people, and webhooks."""
    by_key = {
        run["mutation"]["key"]: names[task_id]
        for task_id, record in observed.records.items()
        for run in record.runs
    }
    for sent in observed.sent:
        task = by_key.get(sent.key) or names.get(sent.key.partition(":")[0])
        quoted = _shorten(sent.content.text)
        text = f"{sent.target} gets “{quoted}”{f', of {task}' if task else ''}"
        tasks = frozenset({task} if task else ())
        yield StoryEntry(from_text(sent.at), "sent", text, Weight.SENT, tasks)
    for one in observed.received:
        task = by_key.get(one.key)
        state = "does its work again" if one.is_repeat else "does its work"
        text = f"the receiver at {one.address} {state if one.is_accepted else 'refuses'}"
        tasks = frozenset({task} if task else ())
        named = f"{text}, of {task}" if task else text
        yield StoryEntry(one.at, "webhook", named, Weight.SENT, tasks)


def _shorten(text: str) -> str:
    first = text.strip().splitlines()[0] if text.strip() else ""
    return first if len(first) <= MAX_TEXT else f"{first[: MAX_TEXT - 1]}…"
