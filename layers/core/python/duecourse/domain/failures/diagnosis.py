"""The category of a failure, and what determined it."""

from __future__ import annotations

from dataclasses import dataclass

from duecourse.domain.tasks.run_diagnosis import Location, Reading

# Values of `pattern` if no rule decided.
MANUAL_PATTERN = "person"
LEARNED_PATTERN = "learned"


@dataclass(frozen=True, kw_only=True, slots=True)
class Diagnosis:
    """How a failure was classified.

    `pattern`: the id of the rule that decided, or `MANUAL_PATTERN` or `LEARNED_PATTERN`.
    `blames_subject`: False for a provider's own problem, such as a rejected API key.
    `rule_reading`: what the rules say, if a person's correction decided instead.
    """

    category: str
    confidence: float
    pattern: str
    fix: str
    location: Location | None = None
    blames_subject: bool = True
    fingerprint: str | None = None
    rule_reading: Reading | None = None
