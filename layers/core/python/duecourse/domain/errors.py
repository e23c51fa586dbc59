"""Everything that can be refused, each with the words a person is told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from duecourse.domain.origin import Effect, Origin

BUDGET_EXCEEDED_CODE = "budget_exceeded"


class DuecourseError(Exception):
    """The base of all errors raised on purpose."""


class UnknownTaskError(DuecourseError):
    def __init__(self, task_id: str) -> None:
        super().__init__(f"there is no task {task_id}")
        self.task_id = task_id


class UnreadableItemError(DuecourseError):
    """A stored item that this version of the code cannot read: newer code wrote it, or it broke.

    `item` is its kind and its keys; neither it nor `reason` holds anything of its content.
    """

    def __init__(self, item: str, reason: str) -> None:
        super().__init__(f"{item} cannot be read by this version of Duecourse: {reason}")
        self.item = item
        self.reason = reason


class AmbiguousIdError(DuecourseError):
    def __init__(self, prefix: str) -> None:
        super().__init__(f"several tasks begin with {prefix}: give more of the id")


class StaleTaskError(DuecourseError):
    """Somebody else changed the task first; nothing was written."""

    def __init__(self, task_id: str) -> None:
        super().__init__(f"task {task_id} was changed by somebody else at the same moment")
        self.task_id = task_id


class StaleSubjectError(DuecourseError):
    """Somebody else changed the subject first; nothing was written."""

    def __init__(self, subject_id: str) -> None:
        super().__init__(f"subject {subject_id} was changed by somebody else at the same moment")


class PublishError(DuecourseError):
    """The bus did not take all events: `taken` is how many it took before the first it did not."""

    def __init__(self, published_count: int, reason: str) -> None:
        super().__init__(f"the bus took {published_count} event(s), and not the next: {reason}")
        self.published_count = published_count


class IllegalTransitionError(DuecourseError):
    def __init__(self, task_id: str, from_status: str, to_status: str) -> None:
        super().__init__(f"task {task_id} is {from_status}: it cannot become {to_status}")


class InvalidStateError(DuecourseError):
    """A request that is well formed but does not fit the task's present state."""


class SubjectPermanentlyFailedError(DuecourseError):
    """A task was to work on a subject that failed for good."""

    type = "SubjectGaveUp"
    code = "subject_gave_up"
    origin = Origin.SUBJECT

    def __init__(self, subject_id: str, category: str | None) -> None:
        super().__init__(f"subject {subject_id} failed for good ({category}): reset it first")


class NotAttemptedError(DuecourseError):
    """Something of ours failed before the work began: nobody was asked, nobody is to blame."""

    type = "NotAttempted"
    code = "not_attempted"
    origin = Origin.NOT_ATTEMPTED

    def __init__(self, cause: Exception) -> None:
        super().__init__(f"nothing was tried yet: {type(cause).__name__}: {cause}")


class ActionFailedError(DuecourseError):
    """The provider answered, and what it said is not success."""

    type = "ActionFailed"
    origin = Origin.ANSWER

    def __init__(self, reason: str, *, code: str) -> None:
        super().__init__(reason)
        self.code = code


class IndeterminateError(DuecourseError):
    """A handler cannot say whether its effect has happened."""

    effect = Effect.UNKNOWN


class ResultTooLargeError(DuecourseError):
    type = "ResultTooLarge"
    code = "result_too_large"
    origin = Origin.LOGIC

    def __init__(self, name: str, size: int, limit: int) -> None:
        super().__init__(f"the {name} has {size:,} bytes as JSON: there is room for {limit:,}")


class NotJsonError(DuecourseError):
    type = "NotJson"
    code = "result_not_json"
    origin = Origin.LOGIC

    def __init__(self, name: str, cause: Exception) -> None:
        super().__init__(f"the {name} cannot be kept as JSON: {cause}")


class NotRecordedError(DuecourseError):
    """The work was done, but that could not be written down: it is not to be done again."""

    type = "NotRecorded"
    code = "not_recorded"
    origin = Origin.NOT_ATTEMPTED
    effect = Effect.APPLIED

    def __init__(self, cause: Exception) -> None:
        super().__init__(f"it was done, but not written down: {type(cause).__name__}: {cause}")


class UnresolvedEffectError(DuecourseError):
    """Nobody but a person can tell whether a lost attempt had its effect."""

    type = "InDoubt"
    code = "in_doubt"
    origin = Origin.INDETERMINATE
    effect = Effect.UNKNOWN

    def __init__(self, task_id: str) -> None:
        super().__init__(f"nobody can tell whether the work of task {task_id} was done")


class LeaseLostError(DuecourseError):
    """The attempt took too long to begin: somebody else may have taken the task over."""

    type = "LeaseLost"
    code = "lease_lost"
    origin = Origin.NOT_ATTEMPTED

    def __init__(self, task_id: str) -> None:
        super().__init__(f"task {task_id} was held too long before its work began")


class NotConfiguredError(DuecourseError):
    """The task needs a channel or a provider that this deployment does not have."""

    type = "NotSetUp"
    code = "not_set_up"

    def __init__(self, kind: str, name: str | None) -> None:
        super().__init__(f"the {kind} {name} is not set up here")


class RecipientGoneError(DuecourseError):
    """Whoever was to be told is not there to be told any more: to try again changes nothing."""

    type = "RecipientGone"
    code = "recipient_gone"

    def __init__(self, channel: str, detail: str, *, status: int | None = None) -> None:
        super().__init__(f"{channel} reaches nobody there: {detail}")
        self.status = status


class ConnectionGoneError(DuecourseError):
    """Nobody listens at that end of a WebSocket any more, or not yet."""

    def __init__(self, connection_id: str) -> None:
        super().__init__(f"nobody listens at {connection_id}")


class UnknownPolicyError(DuecourseError):
    def __init__(self, name: str) -> None:
        super().__init__(f"there is no policy {name}")


class IdempotencyConflictError(DuecourseError):
    def __init__(self) -> None:
        super().__init__("this Idempotency-Key was used before with another body")


class SettingsError(DuecourseError):
    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("settings: " + "; ".join(problems))


class PolicyError(DuecourseError):
    """A policy file that cannot be used; where its line is known, it is named."""

    def __init__(self, file: str, line: int | None, message: str) -> None:
        place = f"{file}, line {line}" if line else file
        super().__init__(f"{place}: {message}")


@dataclass(frozen=True)
class FieldError:
    field: str
    message: str


class InvalidFieldsError(DuecourseError):
    """All that is wrong with a request, field by field."""

    def __init__(self, errors: Sequence[FieldError]) -> None:
        super().__init__("; ".join(f"{error.field}: {error.message}" for error in errors))
        self.errors = tuple(errors)
