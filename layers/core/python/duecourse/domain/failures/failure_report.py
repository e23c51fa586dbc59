"""The message that carries a failure from the worker to the code that decides about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from duecourse.domain.failures.failure import Failure
from duecourse.domain.origin import Effect, Origin
from duecourse.domain.tasks.run import ProviderCall
from duecourse.domain.time.instant import from_text, from_text_or_none, to_text

REJECTION_LABEL = "rejected:"  # how the message about rejected work begins
_FLAGS = ("is_over_budget", "is_wait_expired", "is_finished")  # older reports have none of them


@dataclass(frozen=True, kw_only=True, slots=True)
class FailureReport:
    """The failure of one run. A second report of the same run changes nothing.

    `origin`, `effect`, `is_over_budget` and `is_wait_expired` never come from the error's text,
    type or code, so a provider cannot forge them.
    `effect`: what the worker knows; after a crash, the stored run decides instead.
    `result`: the result of an effect that happened but could not be stored.
    `refused_channel`: the chat channel that had no valid token.
    `provider_reached_at`: when the worker last reached the task's provider, if it knows.
    `is_over_budget`: a budget of Duecourse was used up, so the call was not made.
    `is_wait_expired`: the task waited too long without an attempt, and is given up.
    `is_finished`: the worker ran every phase, and only storing that failed.
    `started_at`: when the run started; None in reports of older code.
    """

    task_id: str
    run_id: str
    failure: Failure
    failed_at: datetime
    origin: Origin = Origin.WORK
    effect: Effect = Effect.NONE
    call: ProviderCall | None = None
    result: Any = None
    provider_reached_at: datetime | None = None
    refused_channel: str | None = None
    is_over_budget: bool = False
    is_wait_expired: bool = False
    is_finished: bool = False
    started_at: datetime | None = None

    @property
    def is_crash(self) -> bool:
        return self.origin is Origin.CRASH

    def to_json(self) -> dict[str, Any]:
        return {
            "task_id": self.task_id,
            "run_id": self.run_id,
            "failed_at": to_text(self.failed_at),
            "origin": str(self.origin),
            "effect": str(self.effect),
            **({"call": asdict(self.call)} if self.call else {}),
            **({"result": self.result} if self.result is not None else {}),
            **_optional_instant("provider_reached_at", self.provider_reached_at),
            **({"refused_channel": self.refused_channel} if self.refused_channel else {}),
            **_optional_instant("started_at", self.started_at),
            **{name: True for name in _FLAGS if getattr(self, name)},
            "failure": self.failure.to_json(),
        }

    @classmethod
    def from_json(cls, stored: Any) -> FailureReport:
        """Read what `to_json` wrote. Raises ValueError for anything else."""
        try:
            if not isinstance(stored["failure"], Mapping):
                raise TypeError
            return cls(
                task_id=_require_text(stored["task_id"]),
                run_id=_require_text(stored["run_id"]),
                failure=Failure.from_json(stored["failure"]),
                failed_at=from_text(stored["failed_at"]),
                origin=Origin(stored.get("origin", Origin.WORK)),
                effect=Effect(stored.get("effect", Effect.NONE)),
                call=ProviderCall(**stored["call"]) if stored.get("call") else None,
                result=stored.get("result"),
                provider_reached_at=from_text_or_none(stored.get("provider_reached_at")),
                refused_channel=_require_text(stored.get("refused_channel", "")) or None,
                started_at=from_text_or_none(stored.get("started_at")),
                **{name: stored.get(name) is True for name in _FLAGS},
            )
        except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
            raise ValueError("not a failure report: needs task_id, run_id and failure") from error


def _optional_instant(name: str, at: datetime | None) -> dict[str, str]:
    return {name: to_text(at)} if at else {}


def _require_text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value
