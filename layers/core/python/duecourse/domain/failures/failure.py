"""A failure as a value. Every constructor redacts secrets and truncates long text."""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from duecourse.domain.failures.retry_after import find_retry_after, parse_retry_after
from duecourse.domain.text.redaction import redact, truncate_middle

SUMMARY_LIMIT = 1_000
MESSAGE_LIMIT = 8_000
TRACEBACK_LIMIT = 4_000
NAME_LIMIT = 200
_MAX_CODE_NUMBER = 10**18  # no error code is this large
_HTTP_STATUSES = range(100, 600)
_STORED_FIELDS = ("type", "code", "status", "retry_after", "phase", "traceback")


@dataclass(frozen=True, kw_only=True, slots=True)
class Failure:
    """One error. Build it with `create`, `from_exception` or `from_json`, which clean its text.

    `message` is long enough to classify; `summary` is what is shown and stored. `code` is the
    machine-readable code (ECONNRESET, insufficient_quota), `status` the HTTP status.
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
        return truncate_middle(self.message, SUMMARY_LIMIT)

    @classmethod
    def create(cls, message: str, /, *, at: Any = None, **evidence: Any) -> Failure:
        """Build a failure from untrusted values. Invalid evidence is dropped.

        `at` is when the error happened; without it, a `retry_after` that is a date is dropped. If
        `retry_after` is missing, it is searched in the message.
        """
        text = redact(message, MESSAGE_LIMIT)
        retry_after = parse_retry_after(evidence.get("retry_after"), at=at)
        return cls(
            message=text,
            type=_clean_name(evidence.get("type")),
            code=_clean_name(evidence.get("code")),
            status=_parse_status(evidence.get("status")),
            retry_after=retry_after if retry_after is not None else find_retry_after(text),
            phase=_clean_name(evidence.get("phase")),
            traceback=_clean_traceback(evidence.get("traceback")),
        )

    @classmethod
    def from_exception(
        cls, error: BaseException, *, phase: str | None = None, at: datetime | None = None
    ) -> Failure:
        """Build a failure from an exception and its `code`, `status` and `retry_after` attributes.

        An exception with a `type` attribute reports another system's error, so its traceback in
        Duecourse's code is left out.
        """
        evidence: dict[str, Any] = {
            name: getattr(error, name, None) for name in ("code", "status", "retry_after")
        }
        evidence |= {"phase": phase, "at": at}
        if hasattr(error, "type"):
            return cls.create(_message_of(error), type=error.type, **evidence)
        name = type(error).__name__
        formatted = "".join(traceback.format_exception(error))
        return cls.create(
            f"{name}: {_message_of(error)}", type=name, traceback=formatted, **evidence
        )

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Failure:
        evidence = {name: stored.get(name) for name in _STORED_FIELDS}
        return cls.create(str(stored.get("message", "")), **evidence)

    def to_json(self) -> dict[str, Any]:
        retry_after = self.retry_after.total_seconds() if self.retry_after is not None else None
        stored = {
            "message": self.message,
            "type": self.type,
            "code": self.code,
            "status": self.status,
            "retry_after": retry_after,
            "phase": self.phase,
            "traceback": self.traceback,
        }
        return {name: value for name, value in stored.items() if value is not None}


def _message_of(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - a message that cannot be made must not hide the failure
        return "(its message cannot be formatted)"


def _clean_name(value: Any) -> str | None:
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < _MAX_CODE_NUMBER:
        value = str(value)
    return redact(value, NAME_LIMIT) if isinstance(value, str) and value.strip() else None


def _clean_traceback(value: Any) -> str | None:
    return redact(value, TRACEBACK_LIMIT) if isinstance(value, str) and value.strip() else None


def _parse_status(value: Any) -> int | None:
    if isinstance(value, str) and len(value) == 3 and value.isdecimal():
        value = int(value)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return int(value) if is_number and value in _HTTP_STATUSES else None
