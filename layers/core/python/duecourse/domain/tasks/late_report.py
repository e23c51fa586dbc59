"""What a worker reported about a run that had been taken for crashed, after a newer run began."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from duecourse.domain.origin import Effect
from duecourse.domain.time.instant import from_text, to_text


@dataclass(frozen=True, kw_only=True, slots=True)
class LateReport:
    """`run_id` and `started_at` name the record of the run, which gets the other fields."""

    run_id: str
    started_at: datetime
    error: str
    effect: Effect
    reported_at: datetime

    def to_json(self) -> dict[str, Any]:
        return {
            "run_id": self.run_id,
            "started_at": to_text(self.started_at),
            "error": self.error,
            "effect": str(self.effect),
            "reported_at": to_text(self.reported_at),
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> LateReport:
        return cls(
            run_id=stored["run_id"],
            started_at=from_text(stored["started_at"]),
            error=stored["error"],
            effect=Effect(stored["effect"]),
            reported_at=from_text(stored["reported_at"]),
        )
