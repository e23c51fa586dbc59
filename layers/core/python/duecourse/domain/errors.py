"""All exceptions that Duecourse raises on purpose. Their messages are shown to people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from duecourse.domain.origin import Effect, Origin

BUDGET_EXCEEDED_CODE = "budget_exceeded"


class DuecourseError(Exception):
    """The base class of every error that Duecourse raises on purpose."""


class UnknownTaskError(DuecourseError):
    def __init__(self, task_id: str) -> None:
        super().__init__(f"there is no task {task_id}")
        self.task_id = task_id


class UnreadableItemError(DuecourseError):
    """This version of the code cannot read a stored item: newer code wrote it, or it is corrupt.

    `item` is the item's kind and keys. Neither `item` nor `reason` contains any of its content.
    """

    def __init__(self, item: str, reason: str) -> None:
        super().__init__(f"{item} cannot be read by this version of Duecourse: {reason}")
        self.item = item
        self.reason = reason


class AmbiguousIdError(DuecourseError):
    def __init__(self, prefix: str) -> None:
        super().__init__(f"several tasks begin with {prefix}: give more of the id")


class StaleTaskError(DuecourseError):
    """Another writer changed the task first, so the conditional write failed."""

    def __init__(self, task_id: str) -> None:
        super().__init__(f"task {task_id} was changed by somebody else at the same moment")
        self.task_id = task_id


class StaleSubjectError(DuecourseError):
    """Another writer changed the subject first, so the conditional write failed."""

    def __init__(self, subject_id: str) -> None:
        super().__init__(f"subject {subject_id} was changed by somebody else at the same moment")


class PublishError(DuecourseError):
    """The event bus rejected an event. `published_count` events before it were accepted."""

    def __init__(self, published_count: int, reason: str) -> None:
        super().__init__(f"the bus took {published_count} event(s), and not the next: {reason}")
        self.published_count = published_count


class IllegalTransitionError(DuecourseError):
    def __init__(self, task_id: str, from_status: str, to_status: str) -> None:
        super().__init__(f"task {task_id} is {from_status}: it cannot become {to_status}")


class InvalidStateError(DuecourseError):
    """The request is well formed, but the task's current state does not allow it."""


class SubjectPermanentlyFailedError(DuecourseError):
    """The task's subject has failed permanently; a person must reset it first."""

    type = "SubjectGaveUp"
    code = "subject_gave_up"
    origin = Origin.SUBJECT

    def __init__(self, subject_id: str, category: str | None) -> None:
        super().__init__(f"subject {subject_id} failed for good ({category}): reset it first")


class NotAttemptedError(DuecourseError):
    """Duecourse itself failed before the handler's effect began, so no provider was called."""

    type = "NotAttempted"
    code = "not_attempted"
    origin = Origin.NOT_ATTEMPTED

    def __init__(self, cause: Exception) -> None:
        super().__init__(f"nothing was tried yet: {type(cause).__name__}: {cause}")


class ActionFailedError(DuecourseError):
    """The provider replied, and its reply reports a failure or no outcome."""

    type = "ActionFailed"
    origin = Origin.ANSWER

    def __init__(self, reason: str, *, code: str) -> None:
        super().__init__(reason)
        self.code = code


class IndeterminateError(DuecourseError):
    """Raised by a handler that cannot tell whether its effect happened."""

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
    """The effect happened, but storing that failed. The effect must not be repeated."""

    type = "NotRecorded"
    code = "not_recorded"
    origin = Origin.NOT_ATTEMPTED
    effect = Effect.APPLIED

    def __init__(self, cause: Exception) -> None:
        super().__init__(f"it was done, but not written down: {type(cause).__name__}: {cause}")


class UnresolvedEffectError(DuecourseError):
    """`reconcile` could not tell whether a lost attempt had its effect. A person must decide."""

    type = "InDoubt"
    code = "in_doubt"
    origin = Origin.INDETERMINATE
    effect = Effect.UNKNOWN

    def __init__(self, task_id: str) -> None:
        super().__init__(f"nobody can tell whether the work of task {task_id} was done")


class LeaseLostError(DuecourseError):
    """The lease ran out before the effect began, so another worker may own the task."""

    type = "LeaseLost"
    code = "lease_lost"
    origin = Origin.NOT_ATTEMPTED

    def __init__(self, task_id: str) -> None:
        super().__init__(f"task {task_id} was held too long before its work began")


class NotConfiguredError(DuecourseError):
    """The task needs a channel or provider that is not configured in this deployment."""

    type = "NotSetUp"
    code = "not_set_up"

    def __init__(self, kind: str, name: str | None) -> None:
        super().__init__(f"the {kind} {name} is not set up here")


class RecipientGoneError(DuecourseError):
    """The recipient no longer exists on the channel. A retry cannot succeed."""

    type = "RecipientGone"
    code = "recipient_gone"

    def __init__(self, channel: str, detail: str, *, status: int | None = None) -> None:
        super().__init__(f"{channel} reaches nobody there: {detail}")
        self.status = status


class ConnectionGoneError(DuecourseError):
    """The WebSocket connection is closed, or not open yet."""

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
    """A policy file is invalid. The message names the line if it is known."""

    def __init__(self, file: str, line: int | None, message: str) -> None:
        place = f"{file}, line {line}" if line else file
        super().__init__(f"{place}: {message}")


@dataclass(frozen=True)
class FieldError:
    field: str
    message: str


class InvalidFieldsError(DuecourseError):
    """One or more fields of a request are invalid. `errors` lists every one of them."""

    def __init__(self, errors: Sequence[FieldError]) -> None:
        super().__init__("; ".join(f"{error.field}: {error.message}" for error in errors))
        self.errors = tuple(errors)
