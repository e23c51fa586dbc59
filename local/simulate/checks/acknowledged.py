"""Invariants of changes over HTTP: what the API acknowledges is what the table has."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from typing import Any

from duecourse.domain.requests.json import to_plain
from duecourse.domain.time.instant import from_text

from local.simulate.actor import Answer
from local.simulate.observed import Observed

_COMPARED = ("status", "paused", "retry_count", "due_at", "description", "max_retries", "version")
_ROUNDING = timedelta(seconds=1)
_ACTIONS = frozenset(
    {"cancel", "pause", "resume", "run", "retry", "unblock"}
    | {"approve", "reject", "resolve", "reclassify"}
)
# Requests and commands that end a pause.
_RESUMING = frozenset({"resume", "retry", "unblock"})


def answers_stored(observed: Observed) -> Iterator[str | None]:
    """A task that the API returns is a version of it that was stored."""
    stored: defaultdict[str, list[Any]] = defaultdict(list)
    for change in observed.changes:
        if change.new is not None:
            stored[change.new.id].append(change.new)
    for answer in _list_task_answers(observed):
        body = {name: answer.body[name] for name in _COMPARED}
        versions = map(_select_compared, stored[answer.body["id"]])
        is_stored = any(_is_same(body, one) for one in versions)
        name = observed.name_of(answer.body["id"])
        yield None if is_stored else f"{_describe(answer, name)} {body}, which was never stored"


def requests_fulfilled(observed: Observed) -> Iterator[str | None]:
    """A task that the API returns after a change has what the request asked for."""
    for answer in _list_task_answers(observed):
        find = _find_missing_edit if answer.method == "PATCH" else _CHECKS.get(_action_of(answer))
        if find is not None:
            missing = find(answer, observed.max_skew)
            text = _describe(answer, observed.name_of(answer.body["id"]))
            yield f"{text} a task that {missing}" if missing else None


def pauses_last(observed: Observed) -> Iterator[str | None]:
    """A paused task stays paused until somebody resumes or retries it."""
    resumed_ids = {
        answer.target.split("/")[2]
        for answer in observed.answers
        if _action_of(answer) in _RESUMING
    }
    words = [text.removeprefix("/").split() for text in observed.said_texts]
    short_ids = {one[1] for one in words if len(one) > 1 and one[0] in _RESUMING}
    for change in observed.changes:
        old, new = change.old, change.new
        if old is not None and new is not None and old.paused:
            is_right = new.paused or new.id in resumed_ids or new.id[:8] in short_ids
            yield None if is_right else f"task {observed.name_of(new.id)} was resumed by nobody"


def _list_task_answers(observed: Observed) -> Iterator[Answer]:
    """Yield the answers with a task, but not of tasks that could not be read for a time."""
    for answer in observed.answers:
        has_task = answer.is_success and _returns_task(answer)
        if has_task and answer.body["id"] not in observed.newer_ids:
            yield answer


def _returns_task(answer: Answer) -> bool:
    words = answer.target.split("/")
    if (answer.method, answer.target) == ("POST", "/tasks") or _action_of(answer):
        return True
    return words[:2] == ["", "tasks"] and len(words) == 3 and answer.method in ("GET", "PATCH")


def _action_of(answer: Answer) -> str:
    """Return the action of `POST /tasks/<id>/<action>`, or nothing."""
    words = answer.target.split("/")
    is_action = len(words) == 4 and words[1] == "tasks" and words[3] in _ACTIONS
    return words[3] if is_action and answer.method == "POST" else ""


def _select_compared(task: Any) -> dict[str, Any]:
    return {name: to_plain(getattr(task, name)) for name in _COMPARED}


def _is_same(body: Mapping[str, Any], stored: Mapping[str, Any]) -> bool:
    """Compare the two. Code before version 0.1 stored a new task without a version."""
    is_without_version = stored["version"] == 0 and body["version"] == 1
    return stored == body or (is_without_version and {**stored, "version": 1} == body)


def _find_missing_edit(answer: Answer, skew: timedelta) -> str:
    """Return what of an edit the task does not have, or nothing."""
    for name in ("description", "max_retries"):
        if name in answer.request and answer.request[name] != answer.body[name]:
            return f"has {name} {answer.body[name]!r}"
    if "in" not in answer.request or answer.body["repeat"] is not None:
        return ""
    delay = timedelta(seconds=int(answer.request["in"].removesuffix("s")))
    return _find_other_time(answer, delay, skew)


def _find_other_time(answer: Answer, delay: timedelta, skew: timedelta) -> str:
    """Return which due time the task has, if it is not `delay` after the request."""
    if answer.asked_at is None or answer.at is None:
        return ""
    due_at = from_text(answer.body["due_at"])
    earliest, latest = answer.asked_at + delay - skew, answer.at + delay + skew
    is_right = earliest - _ROUNDING <= due_at <= latest + _ROUNDING
    return "" if is_right else f"is due {due_at}, asked for at {answer.asked_at}"


def _find_not_started(answer: Answer, skew: timedelta) -> str:
    """Return what keeps a task from running now, or nothing."""
    if answer.body["status"] != "pending" or answer.body["paused"]:
        return f"is {answer.body['status']}, paused: {answer.body['paused']}"
    return _find_other_time(answer, timedelta(0), skew)


def _find_not_retried(answer: Answer, skew: timedelta) -> str:
    count = answer.body["retry_count"]
    return f"has retry_count {count}" if count else _find_not_started(answer, skew)


def _find_not_paused(answer: Answer, _skew: timedelta) -> str:
    return "" if answer.body["paused"] else "is not paused"


def _find_not_resumed(answer: Answer, _skew: timedelta) -> str:
    return "is paused" if answer.body["paused"] else ""


def _find_not_cancelled(answer: Answer, _skew: timedelta) -> str:
    return "" if answer.body["status"] == "cancelled" else f"is {answer.body['status']}"


def _describe(answer: Answer, name: str) -> str:
    return f"{answer.method} {_action_of(answer)} of task {name} returned"


_CHECKS: Mapping[str, Callable[[Answer, timedelta], str]] = {
    "cancel": _find_not_cancelled,
    "pause": _find_not_paused,
    "resume": _find_not_resumed,
    "retry": _find_not_retried,
    "unblock": _find_not_started,
}
