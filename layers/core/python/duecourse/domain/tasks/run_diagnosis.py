"""The classification of a run's failure and the decision about it, as stored with the run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from duecourse.domain.origin import Origin
from duecourse.domain.tasks.adapted_delay import AdaptedDelay
from duecourse.domain.tasks.failure_kind import Kind
from duecourse.domain.tasks.recovery_action import Action
from duecourse.domain.validation.stored_fields import StoredFields


@dataclass(frozen=True, slots=True)
class Location:
    file: str
    line: int | None

    def to_json(self) -> dict[str, str | int | None]:
        return {"file": self.file, "line": self.line}

    @classmethod
    def from_json(cls, stored: Any) -> Location:
        """Read what `to_json` wrote. Raises ValueError for anything else."""
        fields = StoredFields.of(stored)
        return cls(fields.required("file", fields.text("file")), fields.integer("line"))


@dataclass(frozen=True, slots=True)
class Guess:
    """A category and a kind that are likely, but not certain enough to decide by."""

    category: str
    kind: Kind

    def to_json(self) -> dict[str, str]:
        return {"category": self.category, "kind": str(self.kind)}

    @classmethod
    def from_json(cls, stored: Any) -> Guess:
        """Read what `to_json` wrote. Raises ValueError for anything else."""
        fields = StoredFields.of(stored)
        category = fields.required("category", fields.text("category"))
        return cls(category, Kind.parse(fields.text("kind")) or Kind.UNKNOWN)


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """How the rules classified a failure whose category a person corrected."""

    category: str | None = None
    kind: Kind | None = None
    pattern: str | None = None
    confidence: float | None = None
    location: Location | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class RunDiagnosis:
    """The diagnosis of a failed run. Its category and message are fields of the run itself.

    `kind`: None if it was stored before there were kinds.
    `likely`: what it probably is, if no category was certain enough.
    `pattern`: the id of the rule that matched.
    `type`, `code`, `status`, `phase`, `retry_after`: the evidence. It is classified again if a
    person corrects the category.
    `learned`: an earlier correction by a person decided; `read_as` is what the rules alone say.
    `retry_count`: the count after the failure.
    `delay`: without jitter; None if nothing is retried.
    `guidance_lines`: how many lines the failure added to the task's guidance.
    `by`: who corrected the category.
    `review`: the id of the spec review that the task waits for.
    `is_newly_blocked`: the task's or subject's first error of that day for lack of budget.
    """

    kind: Kind | None = None
    likely: Guess | None = None
    confidence: float | None = None
    pattern: str | None = None
    fingerprint: str | None = None
    learned: bool = False
    read_as: Reading | None = None
    fix: str = ""
    location: Location | None = None
    type: str | None = None
    code: str | None = None
    status: int | None = None
    phase: str | None = None
    retry_after: timedelta | None = None
    origin: Origin = Origin.WORK
    blames_subject: bool = True
    action: Action | None = None
    counted: bool = True
    retry_count: int | None = None
    delay: timedelta | None = None
    adapted: AdaptedDelay | None = None
    guidance_lines: int | None = None
    by: str | None = None
    review: str | None = None
    is_newly_blocked: bool = False

    @property
    def is_corrected(self) -> bool:
        """Return whether a person corrected the category of this run, not of an earlier one."""
        return self.read_as is not None and not self.learned

    @property
    def is_expired_wait(self) -> bool:
        """Return whether the task was given up because it waited too long. The run did not try it.

        Of final failures, only this one and that of a subject given up earlier use up no retry.
        """
        is_final = self.action in (Action.MARK_AS_BLOCKED, Action.GIVE_UP)
        return is_final and not self.counted and self.origin is not Origin.SUBJECT

    def to_stored(self) -> dict[str, Any]:
        """Return the stored form without nulls and without defaults of `learned`, `origin` and
        `blames_subject`. Every stored kilobyte costs."""
        stored = {
            "kind": str(self.kind) if self.kind else None,
            "likely": self.likely.to_json() if self.likely else None,
            "confidence": self.confidence,
            "pattern": self.pattern,
            "fingerprint": self.fingerprint,
            "learned": self.learned or None,
            "read_as": _reading_to_stored(self.read_as) if self.read_as else None,
            "fix": self.fix,
            "location": self.location.to_json() if self.location else None,
            "type": self.type,
            "code": self.code,
            "status": self.status,
            "phase": self.phase,
            "retry_after": _seconds(self.retry_after),
            "origin": None if self.origin is Origin.WORK else str(self.origin),
            "blames_subject": None if self.blames_subject else False,
            "action": str(self.action) if self.action else None,
            "counted": self.counted,
            "retry_count": self.retry_count,
            "delay_seconds": _seconds(self.delay),
            "adapted": self.adapted.to_json() if self.adapted else None,
            "guidance_lines": self.guidance_lines,
            "by": self.by,
            "review": self.review,
            "newly_blocked": self.is_newly_blocked or None,
        }
        return {name: value for name, value in stored.items() if value is not None}

    @classmethod
    def from_stored(cls, stored: Any) -> RunDiagnosis:
        """Read what `to_stored` wrote. Unknown names are ignored.

        Raises ValueError naming the field that cannot be read.
        """
        fields = StoredFields.of(stored)
        return cls(
            kind=Kind.parse(fields.text("kind")),
            likely=fields.nested("likely", Guess.from_json),
            confidence=fields.number("confidence"),
            pattern=fields.text("pattern"),
            fingerprint=fields.text("fingerprint"),
            learned=fields.flag("learned", default=False),
            read_as=fields.nested("read_as", _reading_from_stored),
            fix=fields.text("fix") or "",
            location=fields.nested("location", Location.from_json),
            type=fields.text("type"),
            code=fields.text("code"),
            status=fields.integer("status"),
            phase=fields.text("phase"),
            retry_after=fields.seconds("retry_after"),
            origin=fields.member("origin", Origin) or Origin.WORK,
            blames_subject=fields.flag("blames_subject", default=True),
            action=fields.member("action", Action),
            counted=fields.flag("counted", default=True),
            retry_count=fields.integer("retry_count"),
            delay=fields.seconds("delay_seconds"),
            adapted=fields.nested("adapted", AdaptedDelay.from_json),
            guidance_lines=fields.integer("guidance_lines"),
            by=fields.text("by"),
            review=fields.text("review"),
            is_newly_blocked=fields.flag("newly_blocked", default=False),
        )


NOT_DIAGNOSED = RunDiagnosis()  # stands in for a missing diagnosis


def _reading_to_stored(reading: Reading) -> Mapping[str, Any]:
    """Return the stored form. Unlike in `to_stored`, most nulls are kept."""
    kind = {"kind": str(reading.kind)} if reading.kind else {}
    location = {"location": reading.location.to_json()} if reading.location else {}
    return {
        "category": reading.category,
        "pattern": reading.pattern,
        "confidence": reading.confidence,
        **kind,
        **location,
    }


def _reading_from_stored(stored: Any) -> Reading:
    fields = StoredFields.of(stored)
    return Reading(
        category=fields.text("category"),
        kind=Kind.parse(fields.text("kind")),
        pattern=fields.text("pattern"),
        confidence=fields.number("confidence"),
        location=fields.nested("location", Location.from_json),
    )


def _seconds(duration: timedelta | None) -> float | None:
    return duration.total_seconds() if duration is not None else None
