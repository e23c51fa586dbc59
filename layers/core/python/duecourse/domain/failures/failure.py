"""What went wrong, as a value: redacted and cut at the door, whatever it came from."""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from duecourse.domain.failures.retry_after import read_wait, wait_told_in
from duecourse.domain.text.redaction import clean, cut

SUMMARY_LIMIT = 1_000
MESSAGE_LIMIT = 8_000
TRACEBACK_LIMIT = 4_000
NAME_LIMIT = 200
_HUGE = 10**18  # no code is
_STATUSES = range(100, 600)
_STORED = ("type", "code", "status", "retry_after", "phase", "traceback")


@dataclass(frozen=True, kw_only=True, slots=True)
class Failure:
    """Make one with `of`, `from_exception` or `from_json`: they redact and cut.

    `message` keeps enough to be understood, `summary` what is shown and stored. `code` is what a
    machine calls the error (ECONNRESET, insufficient_quota), `status` its HTTP status.
    """

    message: str
    type: str | None = None
    code: str | None = None
    status: int | None = None
    retry_after: timedelta | None = None
    phase: str | None = None
    traceback: str | None = None

    @property
    def summary(self) -> str:
        return cut(self.message, SUMMARY_LIMIT)

    @classmethod
    def of(cls, message: str, /, *, at: Any = None, **evidence: Any) -> Failure:
        """From anything that describes an error; evidence that makes no sense is left out.

        `at` is when it happened: without it, a `retry_after` that names a date says nothing. Where
        there is no `retry_after`, the message may tell it.
        """
        text = clean(message, MESSAGE_LIMIT)
        asked = read_wait(evidence.get("retry_after"), at=at)
        return cls(
            message=text,
            type=_name(evidence.get("type")),
            code=_name(evidence.get("code")),
            status=_status(evidence.get("status")),
            retry_after=asked if asked is not None else wait_told_in(text),
            phase=_name(evidence.get("phase")),
            traceback=_text(evidence.get("traceback")),
        )

    @classmethod
    def from_exception(
        cls, error: BaseException, *, phase: str | None = None, at: datetime | None = None
    ) -> Failure:
        """An exception that tells of somebody else's error has its type, code, status or
        retry_after as attributes: where in our code it was raised says nothing about it."""
        known: dict[str, Any] = {
            name: getattr(error, name, None) for name in ("code", "status", "retry_after")
        }
        known |= {"phase": phase, "at": at}
        if hasattr(error, "type"):
            return cls.of(_said_by(error), type=error.type, **known)
        name = type(error).__name__
        told = "".join(traceback.format_exception(error))
        return cls.of(f"{name}: {_said_by(error)}", type=name, traceback=told, **known)

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Failure:
        evidence = {name: stored.get(name) for name in _STORED}
        return cls.of(str(stored.get("message", "")), **evidence)

    def to_json(self) -> dict[str, Any]:
        waits = self.retry_after.total_seconds() if self.retry_after is not None else None
        stored = {
            "message": self.message,
            "type": self.type,
            "code": self.code,
            "status": self.status,
            "retry_after": waits,
            "phase": self.phase,
            "traceback": self.traceback,
        }
        return {name: value for name, value in stored.items() if value is not None}


def _said_by(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - a message that cannot be made must not hide the failure
        return "(its message cannot be shown)"


def _name(value: Any) -> str | None:
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < _HUGE:
        value = str(value)
    return clean(value, NAME_LIMIT) if isinstance(value, str) and value.strip() else None


def _text(value: Any) -> str | None:
    return clean(value, TRACEBACK_LIMIT) if isinstance(value, str) and value.strip() else None


def _status(value: Any) -> int | None:
    if isinstance(value, str) and len(value) == 3 and value.isdecimal():
        value = int(value)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return int(value) if is_number and value in _STATUSES else None
