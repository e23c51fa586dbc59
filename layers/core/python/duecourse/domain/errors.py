"""All exceptions that Duecourse raises on purpose. Their messages are shown to people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from duecourse.domain.origin import Effect, Origin

BUDGET_EXCEEDED_CODE = "budget_exceeded"


class DuecourseError(Exception):
    """The base class of every error that Duecourse raises on purpose."""

    is_over_budget = False  # only an error for which this is True may use up no retry
    is_wait_expired = False  # the task waited too long for its turn, and is not tried


class UnknownTaskError(DuecourseError):
    def __init__(self, task_id: str) -> None:
        super().__init__(f"there is no task {task_id}")
        self.task_id = task_id


class UnreadableItemError(DuecourseError):
    """This version of the code cannot read a stored item: newer code wrote it, or it is corrupt.

    `item` is the item's kind and keys. Neither `item` nor `reason` contains any of its content.
    """

    def __init__(self, item: str, reason: str) -> None:
        super().__init__(f"this version of Duecourse cannot read {item}: {reason}")
        self.item = item
        self.reason = reason


class AmbiguousIdError(DuecourseError):
    def __init__(self, prefix: str) -> None:
        super().__init__(f"several tasks start with {prefix}: give more characters of the id")


class NotificationsNotSentError(DuecourseError):
    """The queue did not take all notifications of a batch."""

    def __init__(self, sent_count: int) -> None:
        super().__init__(f"the queue took only the first {sent_count} notification(s)")


class StalePageError(DuecourseError):
    """Other invocations kept storing the same page of counters; nothing was counted."""

    def __init__(self, shard_id: str) -> None:
        super().__init__(f"the counters of {shard_id} were changed by others at the same time")


class StaleTaskError(DuecourseError):
    """Another writer changed the task first, so the conditional write failed."""

    def __init__(self, task_id: str) -> None:
        super().__init__(
            f"another request or run changed task {task_id} at the same time: try again"
        )
        self.task_id = task_id


class StaleSubjectError(DuecourseError):
    """Another writer changed the subject first, so the conditional write failed."""

    def __init__(self, subject_id: str) -> None:
        super().__init__(
            f"another request or run changed subject {subject_id} at the same time: try again"
        )


class PublishError(DuecourseError):
    """The event bus rejected an event. `published_count` events before it were accepted."""

    def __init__(self, published_count: int, reason: str) -> None:
        super().__init__(
            f"the event bus accepted {published_count} event(s) and rejected the next: {reason}"
        )
        self.published_count = published_count
        self.reason = reason


class IllegalTransitionError(DuecourseError):
    def __init__(self, task_id: str, from_status: str, to_status: str) -> None:
        super().__init__(f"task {task_id} is {from_status} and cannot become {to_status}")


class InvalidStateError(DuecourseError):
    """The request is well formed, but the task's current state does not allow it."""


class SubjectPermanentlyFailedError(DuecourseError):
    """The task's subject has failed permanently; a person must reset it first."""

    type = "SubjectGaveUp"
    code = "subject_gave_up"
    origin = Origin.SUBJECT

    def __init__(self, subject_id: str, category: str | None) -> None:
        super().__init__(
            f"subject {subject_id} failed permanently ({category}): reset the subject first"
        )


class NotAttemptedError(DuecourseError):
    """Duecourse itself failed before the handler's effect began, so no provider was called."""

    type = "NotAttempted"
    code = "not_attempted"
    origin = Origin.NOT_ATTEMPTED

    def __init__(self, cause: Exception) -> None:
        super().__init__(f"the task was not attempted: {type(cause).__name__}: {cause}")


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
        super().__init__(f"the {name} must have at most {limit:,} bytes as JSON, not {size:,}")


class NotJsonError(DuecourseError):
    type = "NotJson"
    code = "result_not_json"
    origin = Origin.LOGIC

    def __init__(self, name: str, cause: Exception) -> None:
        super().__init__(f"the {name} cannot be stored as JSON: {cause}")


class NotRecordedError(DuecourseError):
    """The effect happened, but storing that failed. The effect must not be repeated."""

    type = "NotRecorded"
    code = "not_recorded"
    origin = Origin.NOT_ATTEMPTED
    effect = Effect.APPLIED

    def __init__(self, cause: Exception) -> None:
        problem = f"{type(cause).__name__}: {cause}"
        super().__init__(f"the side effect happened, but storing its result failed: {problem}")


class UnresolvedEffectError(DuecourseError):
    """`reconcile` could not tell whether a lost attempt had its effect. A person must decide."""

    type = "InDoubt"
    code = "in_doubt"
    origin = Origin.INDETERMINATE
    effect = Effect.UNKNOWN

    def __init__(self, task_id: str) -> None:
        super().__init__(f"it is unknown whether the side effect of task {task_id} happened")


class LeaseLostError(DuecourseError):
    """The lease ran out before the effect began, so another worker may own the task."""

    type = "LeaseLost"
    code = "lease_lost"
    origin = Origin.NOT_ATTEMPTED

    def __init__(self, task_id: str) -> None:
        super().__init__(f"the lease of task {task_id} expired before its side effect began")


class NotConfiguredError(DuecourseError):
    """The task needs a channel or provider that is not configured in this deployment."""

    type = "NotSetUp"
    code = "not_set_up"

    def __init__(self, kind: str, name: str | None) -> None:
        super().__init__(f"the {kind} {name} is not configured in this deployment")


class ChannelUnauthorizedError(DuecourseError):
    """The channel has no valid token, so nothing can be sent to anybody until an operator acts.

    `reason` says what is wrong with the token, in the platform's words if it refused it.
    """

    type = "ChannelUnauthorized"
    code = "channel_unauthorized"
    origin = Origin.NOT_ATTEMPTED
    effect = Effect.NONE

    def __init__(self, channel: str, reason: str, *, status: int | None = None) -> None:
        super().__init__(f"{channel} cannot be used: {reason}")
        self.channel = channel
        self.status = status


class RecipientGoneError(DuecourseError):
    """The recipient no longer exists on the channel. A retry cannot succeed."""

    type = "RecipientGone"
    code = "recipient_gone"

    def __init__(self, channel: str, detail: str, *, status: int | None = None) -> None:
        super().__init__(f"{channel} cannot reach the recipient: {detail}")
        self.status = status


class ConnectionGoneError(DuecourseError):
    """The WebSocket connection is closed, or not open yet."""

    def __init__(self, connection_id: str) -> None:
        super().__init__(f"the WebSocket connection {connection_id} is not open")


class UnknownPolicyError(DuecourseError):
    def __init__(self, name: str) -> None:
        super().__init__(f"there is no policy {name}")


class IdempotencyConflictError(DuecourseError):
    def __init__(self) -> None:
        super().__init__("this Idempotency-Key was used with another body: use a new key")


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
