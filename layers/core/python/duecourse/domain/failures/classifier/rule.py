"""A rule: what an error looks like, and the category it then has."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, StrEnum

from duecourse.domain.failures.classifier.phrase import Phrase
from duecourse.domain.failures.failure import Failure


class PhraseScope(StrEnum):
    """Which lines a phrase is looked for in."""

    VERDICT = "verdict"
    TEXT = "text"


class Tier(IntEnum):
    """Who is asked first; within a tier, the order of the file decides.

    OVERRULING: words that count for more than a status (a quota that is used up, sent as a 429).
    LAST: what is believed only where nothing else is known (some exception, somewhere).
    """

    OVERRULING = 0
    STRUCTURED = 1
    VERDICT = 2
    TEXT = 3
    LAST = 4


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Rule:
    """Every kind of evidence it names must be there; of each kind, one of the values will do.

    `codes`, `types` and `type_ends` are folded (see `folded`); an end is what a type may end in,
    and the empty one is that of any exception. `fix` None: the category's.
    """

    id: str
    category: str
    confidence: float
    tier: Tier
    phrase_scope: PhraseScope = PhraseScope.VERDICT
    types: frozenset[str] = frozenset()
    type_suffixes: tuple[str, ...] = ()
    codes: frozenset[str] = frozenset()
    statuses: frozenset[int] = frozenset()
    exit_codes: frozenset[int] = frozenset()
    phrases: tuple[Phrase, ...] = ()
    excluded_phrases: tuple[Phrase, ...] = ()
    fix: str | None = None
    blames_subject: bool = True
    examples: tuple[Failure, ...] = ()


def normalize_code(name: str) -> str:
    """`DEADLINE_EXCEEDED`, `DeadlineExceeded` and `deadline-exceeded` are one code."""
    return "".join(character for character in name.lower() if character.isalnum())
