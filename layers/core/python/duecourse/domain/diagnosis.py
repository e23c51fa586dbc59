"""What a failure turned out to be, and what told so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from duecourse.domain.stored_fields import StoredFields

# What decided, where it was no rule.
SAID_BY_PERSON = "person"
LEARNED = "learned"


@dataclass(frozen=True, slots=True)
class Location:
    file: str
    line: int | None

    def to_json(self) -> dict[str, str | int | None]:
        return {"file": self.file, "line": self.line}

    @classmethod
    def from_json(cls, stored: Any) -> Location:
        """Raises ValueError for what `to_json` does not write."""
        fields = StoredFields.of(stored)
        return cls(fields.required("file", fields.text("file")), fields.integer("line"))


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """How the rules alone classified a failure that a person says is something else."""

    category: str | None = None
    pattern: str | None = None
    confidence: float | None = None
    location: Location | None = None


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
    read_as: Reading | None = None
