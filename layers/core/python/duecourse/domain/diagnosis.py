"""What a failure turned out to be, and what told so."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Location:
    file: str
    line: int | None

    def to_json(self) -> dict[str, str | int | None]:
        return {"file": self.file, "line": self.line}


@dataclass(frozen=True, kw_only=True, slots=True)
class Diagnosis:
    """`pattern` names what decided. `blames_subject` is False for what is the provider's own
    affair, such as a key that it does not accept."""

    category: str
    confidence: float
    pattern: str
    fix: str
    location: Location | None = None
    blames_subject: bool = True
