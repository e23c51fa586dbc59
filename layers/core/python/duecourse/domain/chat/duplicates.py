"""Find an open task that a new task would duplicate."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import timedelta
from difflib import SequenceMatcher

from duecourse.domain.tasks.task import Task

MAX_TIME_DIFFERENCE = timedelta(minutes=5)
_MIN_SIMILARITY = 0.85
_COMPARED_LENGTH = 300  # characters: comparing takes quadratic time
_NON_WORD = re.compile(r"[\W_]+")


def find_duplicate(task: Task, others: Iterable[Task]) -> Task | None:
    """Return the open task of the same type with similar text at nearly the same time, or None."""
    similar = [other for other in others if _is_candidate(task, other) and _is_similar(task, other)]
    found = [other for other in similar if _is_same_time(task, other)]
    return min(found, key=lambda other: abs(task.due_at - other.due_at), default=None)


def _is_candidate(task: Task, other: Task) -> bool:
    return other.id != task.id and other.type == task.type and other.is_open


def _is_same_time(task: Task, other: Task) -> bool:
    if abs(task.due_at - other.due_at) <= MAX_TIME_DIFFERENCE:
        return True
    following = other.series.first_from(task.due_at - MAX_TIME_DIFFERENCE) if other.series else None
    return following is not None and following <= task.due_at + MAX_TIME_DIFFERENCE


def _is_similar(task: Task, other: Task) -> bool:
    first, second = _normalized_description(task), _normalized_description(other)
    return first == second or SequenceMatcher(None, first, second).ratio() >= _MIN_SIMILARITY


def _normalized_description(task: Task) -> str:
    return _NON_WORD.sub(" ", task.description[:_COMPARED_LENGTH].casefold()).strip()
