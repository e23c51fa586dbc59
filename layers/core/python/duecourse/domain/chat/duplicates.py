"""Whether somebody asks for what they have asked for before."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import timedelta
from difflib import SequenceMatcher

from duecourse.domain.tasks.task import Task

NEAR = timedelta(minutes=5)
_ALIKE = 0.85
_COMPARED = 300  # characters: comparing takes their square
_NO_WORD = re.compile(r"[\W_]+")


def near_duplicate(task: Task, others: Iterable[Task]) -> Task | None:
    """An open task of the same type, in nearly the same words, for nearly the same time."""
    alike = [other for other in others if _is_another(task, other) and _alike(task, other)]
    found = [other for other in alike if _at_the_same_time(task, other)]
    return min(found, key=lambda other: abs(task.due_at - other.due_at), default=None)


def _is_another(task: Task, other: Task) -> bool:
    return other.id != task.id and other.type == task.type and other.is_open


def _at_the_same_time(task: Task, other: Task) -> bool:
    if abs(task.due_at - other.due_at) <= NEAR:
        return True
    following = other.series.first_from(task.due_at - NEAR) if other.series else None
    return following is not None and following <= task.due_at + NEAR


def _alike(task: Task, other: Task) -> bool:
    mine, theirs = _words(task), _words(other)
    return mine == theirs or SequenceMatcher(None, mine, theirs).ratio() >= _ALIKE


def _words(task: Task) -> str:
    return _NO_WORD.sub(" ", task.description[:_COMPARED].casefold()).strip()
