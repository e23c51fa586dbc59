"""Whether an operation did something, or was refused."""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus

from local.simulate.actor import Answer
from local.simulate.workload.operation_kind import OperationKind


def has_succeeded(kind: OperationKind, answers: Sequence[Answer]) -> bool:
    """Return whether a request of the operation was accepted, one that changes something if any.

    A message in chat is accepted before it is read, whatever the reply will be.
    """
    is_only_reading = bool(kind.covers) and all(one.startswith("GET ") for one in kind.covers)
    return any(
        one.status < HTTPStatus.MULTIPLE_CHOICES and (is_only_reading or one.method != "GET")
        for one in answers
    )
