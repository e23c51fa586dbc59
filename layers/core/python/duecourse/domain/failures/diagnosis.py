"""What a failure turned out to be, and what told so."""

from __future__ import annotations

from dataclasses import dataclass

from duecourse.domain.tasks.run_diagnosis import Location, Reading

# What decided, where it was no rule.
MANUAL_PATTERN = "person"
LEARNED_PATTERN = "learned"


@dataclass(frozen=True, kw_only=True, slots=True)
class Diagnosis:
    """`pattern` names what decided. `blames_subject` is False for what is the provider's own
    affair, such as a key that it does not accept. `fingerprint` is that of the failure; `read_as`
    is how the rules read it, where somebody has said before that it is something else."""

    category: str
    confidence: float
    pattern: str
    fix: str
    location: Location | None = None
    blames_subject: bool = True
    fingerprint: str | None = None
    rule_reading: Reading | None = None
