"""The category of a failure, and what determined it."""

from __future__ import annotations

from dataclasses import dataclass

from duecourse.domain.tasks.failure_kind import Kind
from duecourse.domain.tasks.run_diagnosis import Guess, Location, Reading

# Values of `pattern` if no rule decided.
MANUAL_PATTERN = "person"
LEARNED_PATTERN = "learned"
UNKNOWN_PATTERN = "unknown"


@dataclass(frozen=True, kw_only=True, slots=True)
class Diagnosis:
    """How a failure was classified.

    `likely`: the guess, if it was too uncertain to decide by; the category is then the fallback.
    `pattern`: the id of the rule that decided or guessed, or one of the values above.
    `blames_subject`: False for a provider's own problem, such as a rejected API key.
    `rule_reading`: what the rules say, if a person's correction decided instead.
    """

    category: str
    confidence: float
    pattern: str
    fix: str
    kind: Kind = Kind.UNKNOWN
    likely: Guess | None = None
    location: Location | None = None
    blames_subject: bool = True
    fingerprint: str | None = None
    rule_reading: Reading | None = None
