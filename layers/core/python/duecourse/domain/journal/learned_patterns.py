"""What failures teach: how often a kind of failure came, what retries did about it, and what a
person said that it really is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any

from duecourse.domain.failures.diagnosis import LEARNED, Diagnosis
from duecourse.domain.failures.policy import Policy
from duecourse.domain.tasks.run import Run
from duecourse.domain.tasks.run_diagnosis import NOT_DIAGNOSED, Reading, RunDiagnosis
from duecourse.domain.tasks.task import Task
from duecourse.domain.text.redaction import cut
from duecourse.domain.time.instant import to_text, to_text_or_none

CONFIDENCE = 0.95
EXAMPLE_LIMIT = 300


@dataclass(frozen=True, kw_only=True, slots=True)
class Sighting:
    """A failure of some kind was seen. `read_as` is its category by the rules."""

    policy: str
    fingerprint: str
    category: str
    read_as: str
    example: str
    at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class Said:
    """What a person said that a kind of failure is. `by` is who, where that is known; `read_as`
    how the rules had read it, which in old records is missing."""

    category: str
    at: datetime
    by: str | None = None
    read_as: str | None = None

    def holds_for(self, category: str) -> bool:
        """Of a failure that the rules read otherwise, this was not said."""
        return self.read_as == category


@dataclass(frozen=True, kw_only=True, slots=True)
class Pattern:
    """`category` is that of the latest failure. Of the retries after one, so many were tried and
    so many of those worked."""

    policy: str
    fingerprint: str
    category: str
    read_as: str
    example: str
    last_seen: datetime
    count: int = 0
    tried: int = 0
    worked: int = 0
    said: Said | None = None


def seen_in(task: Task, run: Run) -> Sighting | None:
    """None of a run that has no fingerprint: it teaches nothing."""
    note = run.diagnosis or NOT_DIAGNOSED
    if run.category is None or note.fingerprint is None:
        return None
    return Sighting(
        policy=task.policy,
        fingerprint=note.fingerprint,
        category=run.category,
        read_as=_rules_category(note) or run.category,
        example=cut(run.error or "", EXAMPLE_LIMIT),
        at=run.ended_at or run.started_at,
    )


def said_of(old: Task | None, run: Run, *, at: datetime) -> Said | None:
    """What a person has just said of a run that had failed before."""
    note = run.diagnosis or NOT_DIAGNOSED
    before = old.run if old else None
    is_news = before is not None and before.id == run.id and before.diagnosis != run.diagnosis
    if run.category is None or not (is_news and note.is_corrected):
        return None
    return Said(category=run.category, at=at, by=note.by, read_as=_rules_category(note))


def _rules_category(diagnosis: RunDiagnosis) -> str | None:
    return diagnosis.read_as.category if diagnosis.read_as else None


def as_learned(read: Diagnosis, pattern: Pattern | None, policy: Policy) -> Diagnosis:
    """As a person said before of this kind of failure, where the rules read it as they did then;
    as they read it where nobody did.

    A wait that costs no retry is neither taken away nor given: it would have no end.
    """
    said = pattern.said if pattern else None
    is_meant = said is not None and said.holds_for(read.category)
    category = policy.categories.get(said.category) if said and is_meant else None
    if category is None or not (category.counts and policy.categories[read.category].counts):
        return read
    return replace(
        read,
        category=category.name,
        confidence=CONFIDENCE,
        pattern=LEARNED,
        fix=category.fix,
        location=None if category.is_outside else read.location,
        read_as=_reading(read),
    )


def _reading(read: Diagnosis) -> Reading:
    return Reading(
        category=read.category,
        pattern=read.pattern,
        confidence=read.confidence,
        location=read.location,
    )


def pattern_to_json(pattern: Pattern) -> dict[str, Any]:
    """`category` is the one that the next such failure will have, if the rules read it as the
    latest."""
    said = pattern.said
    return {
        "policy": pattern.policy,
        "fingerprint": pattern.fingerprint,
        "category": _next_category(pattern),
        "read_as": pattern.read_as,
        "example": pattern.example,
        "count": pattern.count,
        "tried": pattern.tried,
        "worked": pattern.worked,
        "success_percent": percent(pattern.worked, pattern.tried),
        "last_seen": to_text(pattern.last_seen),
        "said_by_person": said is not None,
        "said_by": said.by if said else None,
        "said_at": to_text_or_none(said.at if said else None),
    }


def _next_category(pattern: Pattern) -> str:
    said = pattern.said
    if said is None:
        return pattern.category
    return said.category if said.holds_for(pattern.read_as) else pattern.read_as


def percent(part: int, whole: int) -> float | None:
    return round(100 * part / whole, 1) if whole else None


def months_until(day: date) -> tuple[str, str]:
    """This one and the one before: what worked long ago need not work today."""
    before = date(day.year - (day.month == 1), (day.month - 2) % 12 + 1, 1)
    return f"{day:%Y-%m}", f"{before:%Y-%m}"
