"""Everything that can be refused, each with the words a person is told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


class DuecourseError(Exception):
    """The base of all errors raised on purpose."""


class UnknownTaskError(DuecourseError):
    def __init__(self, task_id: str) -> None:
        super().__init__(f"there is no task {task_id}")
        self.task_id = task_id


class AmbiguousIdError(DuecourseError):
    def __init__(self, prefix: str) -> None:
        super().__init__(f"several tasks begin with {prefix}: give more of the id")


class StaleTaskError(DuecourseError):
    """Somebody else changed the task first; nothing was written."""

    def __init__(self, task_id: str) -> None:
        super().__init__(f"task {task_id} was changed by somebody else at the same moment")
        self.task_id = task_id


class IllegalMoveError(DuecourseError):
    def __init__(self, task_id: str, from_status: str, to_status: str) -> None:
        super().__init__(f"task {task_id} is {from_status}: it cannot become {to_status}")


class RefusedError(DuecourseError):
    """A request that is well formed but does not fit the task's present state."""


class IdempotencyConflictError(DuecourseError):
    def __init__(self) -> None:
        super().__init__("this Idempotency-Key was used before with another body")


class SettingsError(DuecourseError):
    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("settings: " + "; ".join(problems))


@dataclass(frozen=True)
class FieldError:
    field: str
    message: str


class InvalidFieldsError(DuecourseError):
    """All that is wrong with a request, field by field."""

    def __init__(self, errors: Sequence[FieldError]) -> None:
        super().__init__("; ".join(f"{error.field}: {error.message}" for error in errors))
        self.errors = tuple(errors)
