"""Classifies a failure by the rules of a policy.

Rules are tried on the most trusted evidence first: the final exception, then the error text, then
every line of prose.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from duecourse.domain.failures.classifier.answer import (
    RuleMatch,
    answer_by_rule,
    answer_unknown,
)
from duecourse.domain.failures.classifier.evidence import Evidence, EvidenceTier, collect_evidence
from duecourse.domain.failures.classifier.phrase import Phrase, SearchText
from duecourse.domain.failures.classifier.rule import PhraseScope, Rule, Tier
from duecourse.domain.failures.classifier.source_location import choose_location
from duecourse.domain.failures.diagnosis import Diagnosis
from duecourse.domain.failures.failure import Failure
from duecourse.domain.failures.policy import Policy
from duecourse.domain.tasks.failure_kind import Kind

_TIERS_BY_EVIDENCE = (Tier.OVERRULING, Tier.STRUCTURED, Tier.VERDICT)


def diagnose(failure: Failure, policy: Policy) -> Diagnosis:
    """Return the diagnosis of the first rule that matches, else the fallback category.

    Below the policy's threshold, the category is the fallback too. Never raises.
    """
    evidence = collect_evidence(failure)
    match = find_match(evidence, policy)
    answer = answer_by_rule(match, policy) if match else answer_unknown(policy)
    return replace(answer.to_diagnosis(policy), location=choose_location(evidence.source_matches))


def find_rule(failure: Failure, policy: Policy) -> Rule | None:
    """Return the first rule that matches."""
    match = find_match(collect_evidence(failure), policy)
    return match.rule if match else None


def find_match(evidence: Evidence, policy: Policy) -> RuleMatch | None:
    """Return the first rule that matches, and whether another one disputes it."""
    matches = _find_matches(evidence, _rule_index(policy.rules))
    first = next(matches, None)
    if first is None:
        return None
    rule, is_log_line = first
    is_disputed = any(other.category != rule.category for other, _ in matches)
    return RuleMatch(rule, is_log_line, is_disputed)


@dataclass(frozen=True, slots=True)
class _PhraseMatches:
    """The rules whose phrases, or excluded phrases, occur in a text."""

    matched: frozenset[Rule]
    excluded: frozenset[Rule]


class RuleIndex:
    """Rules grouped by tier, and their phrases indexed by their rarest word."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.tiers: dict[Tier, list[Rule]] = {tier: [] for tier in Tier}
        self.field_rules = [rule for rule in rules if rule.is_named_by_field]
        uses: Counter[str] = Counter()
        for rule in rules:
            self.tiers[rule.tier].append(rule)
            uses.update(
                word for phrase in (*rule.phrases, *rule.excluded_phrases) for word in phrase.words
            )
        self._phrase_index = _index_by_rarest_word(
            ((p, rule) for rule in rules for p in rule.phrases), uses
        )
        self._exclusion_index = _index_by_rarest_word(
            ((p, rule) for rule in rules for p in rule.excluded_phrases), uses
        )

    def match(self, text: SearchText) -> _PhraseMatches:
        return _PhraseMatches(
            _find_phrases(self._phrase_index, text), _find_phrases(self._exclusion_index, text)
        )


_PhraseIndex = Mapping[str, Sequence[tuple[Phrase, Rule]]]


def _index_by_rarest_word(
    phrases: Iterable[tuple[Phrase, Rule]], uses: Mapping[str, int]
) -> _PhraseIndex:
    index: dict[str, list[tuple[Phrase, Rule]]] = {}
    for phrase, rule in phrases:
        rarest = min(phrase.words, key=lambda word: (uses[word], -len(word), word), default="")
        index.setdefault(rarest, []).append((phrase, rule))
    return index


def _find_phrases(index: _PhraseIndex, text: SearchText) -> frozenset[Rule]:
    """Return the rules with a phrase in `text`.

    For speed, only phrases whose rarest word is in the text are searched.
    """
    matched: set[Rule] = set()
    for word in (*(text.words & index.keys()), ""):
        for phrase, rule in index.get(word, ()):
            if rule not in matched and phrase.is_in(text):
                matched.add(rule)
    return frozenset(matched)


@lru_cache(maxsize=16)
def _rule_index(rules: tuple[Rule, ...]) -> RuleIndex:
    return RuleIndex(rules)


@dataclass(frozen=True, slots=True)
class _MatchPass:
    """One tier of rules, applied to one tier of evidence."""

    tier: Tier
    evidence: EvidenceTier
    matches: _PhraseMatches
    is_log_line: bool = False


def _find_matches(evidence: Evidence, index: RuleIndex) -> Iterator[tuple[Rule, bool]]:
    """Yield matching rules, most trusted first, and whether only lines of the log say so."""
    all_matches = index.match(evidence.full_text)
    kinds = _kinds_by_fields(evidence.fields, index, all_matches)
    for match_pass in _match_passes(evidence, index, all_matches):
        for rule in index.tiers[match_pass.tier]:
            if kinds and rule.kind not in kinds and not _is_by_fields(rule, evidence.fields):
                continue
            if _is_match(rule, match_pass, all_matches):
                yield rule, match_pass.is_log_line


def _kinds_by_fields(
    fields: EvidenceTier, index: RuleIndex, all_matches: _PhraseMatches
) -> frozenset[Kind]:
    """Return the kinds that the text may name; empty if no field names one.

    A specific code or status (503) cannot be overruled by the text. A generic one (400) can be
    refined by it to the kinds that its rule lists.
    """
    if not (fields.names or fields.statuses):
        return frozenset()
    named = [
        rule
        for rule in index.field_rules
        if rule not in all_matches.excluded and _has_matching_fields(rule, fields)
    ]
    decisive = [rule for rule in named if not rule.refined_by] or named
    return frozenset().union(*({rule.kind or Kind.UNKNOWN} | rule.refined_by for rule in decisive))


def _is_by_fields(rule: Rule, fields: EvidenceTier) -> bool:
    return not rule.is_words_only and _has_matching_fields(rule, fields)


def _match_passes(
    evidence: Evidence, index: RuleIndex, all_matches: _PhraseMatches
) -> Iterator[_MatchPass]:
    searched: list[tuple[EvidenceTier, _PhraseMatches]] = []
    for source in evidence.tiers:
        is_full_text = source.text is evidence.full_text
        matches = all_matches if is_full_text else index.match(source.text)
        is_log_line = is_full_text and bool(searched)
        searched.append((source, matches))
        yield from (_MatchPass(tier, source, matches, is_log_line) for tier in _TIERS_BY_EVIDENCE)
    for tier in (Tier.TEXT, Tier.LAST):
        yield from (_MatchPass(tier, source, matches) for source, matches in searched)


def _is_match(rule: Rule, match_pass: _MatchPass, all_matches: _PhraseMatches) -> bool:
    if (
        rule.phrases
        and rule
        not in (
            all_matches if rule.phrase_scope is PhraseScope.TEXT else match_pass.matches
        ).matched
    ):
        return False
    return rule not in all_matches.excluded and _has_matching_fields(rule, match_pass.evidence)


def _has_matching_fields(rule: Rule, evidence: EvidenceTier) -> bool:
    return not (
        ((rule.types or rule.type_suffixes) and not _has_matching_type(rule, evidence))
        or (rule.codes and rule.codes.isdisjoint(evidence.names))
        or (rule.statuses and rule.statuses.isdisjoint(evidence.statuses))
        or (rule.exit_codes and rule.exit_codes.isdisjoint(evidence.exit_codes))
    )


def _has_matching_type(rule: Rule, evidence: EvidenceTier) -> bool:
    if not rule.types.isdisjoint(evidence.names):
        return True
    return bool(rule.type_suffixes) and any(
        name.endswith(rule.type_suffixes) for name in evidence.types
    )
