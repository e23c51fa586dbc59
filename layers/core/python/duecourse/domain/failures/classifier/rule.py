"""A rule: the evidence that it needs, and the category that it gives to a failure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, StrEnum

from duecourse.domain.failures.classifier.phrase import Phrase
from duecourse.domain.failures.failure import Failure
from duecourse.domain.tasks.failure_kind import Kind

# A rule that states this is certain, such as one for our own codes. Its confidence is not measured.
CERTAIN = 1.0


class PhraseScope(StrEnum):
    """Which lines a phrase is searched in: those of the current evidence tier, or all prose."""

    VERDICT = "verdict"
    TEXT = "text"


class Tier(IntEnum):
    """The order in which rules are tried. Within a tier, the order in the file decides.

    OVERRULING: words that outweigh a status (an exhausted quota that is sent as a 429).
    LAST: weak evidence, used only if nothing else matches (any exception, anywhere).
    """

    OVERRULING = 0
    STRUCTURED = 1
    VERDICT = 2
    TEXT = 3
    LAST = 4


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Rule:
    """Matches if every kind of evidence that it names is present with one of the listed values.

    `codes`, `types` and `type_suffixes` are normalized by `normalize_code`. An empty suffix matches
    any exception type. `kind`: None uses the kind of the category, `fix`: None uses its fix.
    `refined_by`: if the code or status is generic, the kinds that the words of the error may name
    instead. Words never overrule a specific one.
    `is_measured`: the confidence comes from the `ConfidenceTable`, not from `confidence`.
    `is_weak`: the rule is a guess, in the policy that it belongs to.
    """

    id: str
    category: str
    kind: Kind | None = None
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
    refined_by: frozenset[Kind] = frozenset()
    fix: str | None = None
    blames_subject: bool = True
    is_measured: bool = False
    is_weak: bool = False
    examples: tuple[Failure, ...] = ()

    @property
    def is_words_only(self) -> bool:
        return bool(self.phrases) and not (
            self.types or self.type_suffixes or self.codes or self.statuses or self.exit_codes
        )

    @property
    def is_named_by_field(self) -> bool:
        """Return whether a code or a status alone is enough for this rule."""
        return (
            bool(self.codes or self.statuses)
            and not (self.types or self.type_suffixes or self.exit_codes or self.phrases)
            and self.tier <= Tier.STRUCTURED
        )


def normalize_code(name: str) -> str:
    """Return one form for `DEADLINE_EXCEEDED`, `DeadlineExceeded` and `deadline-exceeded`."""
    return "".join(character for character in name.lower() if character.isalnum())
