"""Reads an error as an engineer would: its codes, then its verdict, then its other words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from duecourse.domain.failures.classifier.evidence import Evidence, Testimony, evidence_of
from duecourse.domain.failures.classifier.phrase import Phrase, Text
from duecourse.domain.failures.classifier.rule import Rule, Tier, Where
from duecourse.domain.failures.classifier.source_location import location_of
from duecourse.domain.failures.diagnosis import Diagnosis
from duecourse.domain.failures.failure import Failure
from duecourse.domain.failures.policy import Policy

UNKNOWN = "unknown"
UNKNOWN_CONFIDENCE = 0.3
# What only stands in the log around the error is believed less.
LOOSE_SHARE = 0.8
_ASKED_OF_EACH = (Tier.OVERRULING, Tier.STRUCTURED, Tier.VERDICT)


def diagnose(failure: Failure, policy: Policy) -> Diagnosis:
    """Never raises. Where no rule applies, the policy's fallback with little confidence."""
    evidence = evidence_of(failure)
    location = location_of(evidence.places)
    found = next(_matches(evidence, _book_of(policy.rules)), None)
    if found is None:
        return Diagnosis(
            category=policy.fallback,
            confidence=UNKNOWN_CONFIDENCE,
            pattern=UNKNOWN,
            fix=policy.unknown.fix,
            location=location,
        )
    rule, share = found
    return Diagnosis(
        category=rule.category,
        confidence=round(rule.confidence * share, 2),
        pattern=rule.id,
        fix=rule.fix or policy.categories[rule.category].fix,
        location=location,
        blames_subject=rule.blames_subject,
    )


@dataclass(frozen=True, slots=True)
class _Heard:
    """The rules that a text speaks for, and those that it speaks against."""

    says: frozenset[Rule]
    unless: frozenset[Rule]


class _Book:
    """Rules by tier, and their phrases by the rarest of their words."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.tiers: dict[Tier, list[Rule]] = {tier: [] for tier in Tier}
        uses: Counter[str] = Counter()
        for rule in rules:
            self.tiers[rule.tier].append(rule)
            uses.update(word for phrase in (*rule.says, *rule.unless) for word in phrase.words)
        self._says = _by_rarest_word(((p, rule) for rule in rules for p in rule.says), uses)
        self._unless = _by_rarest_word(((p, rule) for rule in rules for p in rule.unless), uses)

    def heard_in(self, text: Text) -> _Heard:
        return _Heard(_said(self._says, text), _said(self._unless, text))


_Index = Mapping[str, Sequence[tuple[Phrase, Rule]]]


def _by_rarest_word(phrases: Iterable[tuple[Phrase, Rule]], uses: Mapping[str, int]) -> _Index:
    index: dict[str, list[tuple[Phrase, Rule]]] = {}
    for phrase, rule in phrases:
        rarest = min(phrase.words, key=lambda word: (uses[word], -len(word), word), default="")
        index.setdefault(rarest, []).append((phrase, rule))
    return index


def _said(index: _Index, text: Text) -> frozenset[Rule]:
    """Only phrases whose rarest word the text holds are looked for, and each rule only once."""
    said: set[Rule] = set()
    for word in (*(text.words & index.keys()), ""):
        for phrase, rule in index.get(word, ()):
            if rule not in said and phrase.is_in(text):
                said.add(rule)
    return frozenset(said)


@lru_cache(maxsize=16)
def _book_of(rules: tuple[Rule, ...]) -> _Book:
    return _Book(rules)


@dataclass(frozen=True, slots=True)
class _Round:
    """A tier of rules asked about some of the lines."""

    tier: Tier
    told: Testimony
    here: _Heard
    share: float = 1.0


def _matches(evidence: Evidence, book: _Book) -> Iterator[tuple[Rule, float]]:
    """In the order in which they are believed, with the share of their confidence."""
    everywhere = book.heard_in(evidence.loose)
    for turn in _rounds(evidence, book, everywhere):
        for rule in book.tiers[turn.tier]:
            if _holds(rule, turn, everywhere):
                yield rule, turn.share


def _rounds(evidence: Evidence, book: _Book, everywhere: _Heard) -> Iterator[_Round]:
    heard: list[tuple[Testimony, _Heard]] = []
    for told in evidence.testimonies:
        is_loose = told.text is evidence.loose
        here = everywhere if is_loose else book.heard_in(told.text)
        share = LOOSE_SHARE if is_loose and heard else 1.0
        heard.append((told, here))
        yield from (_Round(tier, told, here, share) for tier in _ASKED_OF_EACH)
    for tier in (Tier.TEXT, Tier.LAST):
        yield from (_Round(tier, told, here) for told, here in heard)


def _holds(rule: Rule, turn: _Round, everywhere: _Heard) -> bool:
    if rule.says and rule not in (everywhere if rule.where is Where.TEXT else turn.here).says:
        return False
    return rule not in everywhere.unless and _has_structure(rule, turn.told)


def _has_structure(rule: Rule, told: Testimony) -> bool:
    return not (
        ((rule.types or rule.type_ends) and not _has_type(rule, told))
        or (rule.codes and rule.codes.isdisjoint(told.names))
        or (rule.statuses and rule.statuses.isdisjoint(told.statuses))
        or (rule.exits and rule.exits.isdisjoint(told.exits))
    )


def _has_type(rule: Rule, told: Testimony) -> bool:
    if not rule.types.isdisjoint(told.names):
        return True
    return bool(rule.type_ends) and any(name.endswith(rule.type_ends) for name in told.types)
