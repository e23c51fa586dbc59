"""A failure on its way from where it happened to where it is decided upon."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from duecourse.domain.failure import Failure
from duecourse.domain.instant import from_text, to_text


@dataclass(frozen=True, kw_only=True, slots=True)
class FailureReport:
    """It concerns one run and no other: a second report of the same run changes nothing.

    `is_crash`: the worker did not say so itself, it was never heard of again.
    """

    task_id: str
    run_id: str
    failure: Failure
    failed_at: datetime
    is_crash: bool = False

    def to_json(self) -> dict[str, Any]:
        return {
            "task_id": self.task_id,
            "run_id": self.run_id,
            "failed_at": to_text(self.failed_at),
            "is_crash": self.is_crash,
            "failure": self.failure.to_json(),
        }

    @classmethod
    def from_json(cls, stored: Any) -> FailureReport:
        """Raises ValueError for what is no report."""
        try:
            if not isinstance(stored["failure"], Mapping):
                raise TypeError
            return cls(
                task_id=_text(stored["task_id"]),
                run_id=_text(stored["run_id"]),
                failure=Failure.from_json(stored["failure"]),
                failed_at=from_text(stored["failed_at"]),
                is_crash=stored.get("is_crash") is True,
            )
        except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
            raise ValueError("not a failure report: needs task_id, run_id and failure") from error


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value
