"""Reads one `[[rules]]` table of a policy file."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

from duecourse.domain.failures.classifier.phrase import Phrase
from duecourse.domain.failures.classifier.rule import PhraseScope, Rule, Tier, normalize_code
from duecourse.domain.failures.failure import Failure
from duecourse.domain.tasks.failure_kind import Kind
from duecourse.domain.validation.toml_table import (
    TomlTable,
    enum_parser,
    parse_bool,
    parse_fraction,
    parse_text,
)

DEFAULT_CONFIDENCE = 0.9
ANY_PREFIX = "*"
ANY_KIND = "*"
_EVIDENCE_KEYS = ("type", "code", "status", "exit", "says")
_parse_kind = enum_parser(Kind)
_TIERS = {tier.name.lower(): tier for tier in Tier}


def parse_rule(table: TomlTable, categories: Container[str]) -> Rule:
    table.label = f"rule {table.require('id', parse_text)}"
    if not any(key in table.values for key in _EVIDENCE_KEYS):
        table.fail(f"names no evidence: it needs one of {', '.join(_EVIDENCE_KEYS)}")
    rule = _build_rule(table)
    if rule.category not in categories:
        table.fail(f"{rule.category} is not a category of this policy", "category")
    if not rule.examples:
        table.fail("has no example; give one that the rule decides")
    table.reject_unknown_keys()
    return rule


def _build_rule(table: TomlTable) -> Rule:
    where = table.read("where", enum_parser(PhraseScope), PhraseScope.VERDICT)
    types = table.read_list("type", parse_text)
    return Rule(
        id=table.require("id", parse_text),
        category=table.require("category", parse_text),
        kind=table.read("kind", enum_parser(Kind), None),
        confidence=table.read("confidence", parse_fraction, DEFAULT_CONFIDENCE),
        tier=table.read("tier", _parse_tier, _default_tier(table, where)),
        phrase_scope=where,
        types=frozenset(normalize_code(name) for name in types if name[0] != ANY_PREFIX),
        type_suffixes=tuple(normalize_code(name) for name in types if name[0] == ANY_PREFIX),
        codes=frozenset(table.read_list("code", _parse_code)),
        statuses=frozenset().union(*table.read_list("status", _parse_statuses)),
        exit_codes=frozenset(table.read_list("exit", _parse_exit_code)),
        phrases=table.read_list("says", _parse_phrase),
        excluded_phrases=table.read_list("unless", _parse_phrase),
        refined_by=frozenset().union(*table.read_list("refined_by", _parse_kinds)),
        fix=table.read("fix", parse_text, None),
        blames_subject=table.read("blames_subject", parse_bool, True),
        examples=table.read_list("example", _parse_example)
        + table.read_list("examples", _parse_example),
    )


def _default_tier(table: TomlTable, where: PhraseScope) -> Tier:
    if any(key in table.values for key in _EVIDENCE_KEYS[:-1]):
        return Tier.OVERRULING if "says" in table.values else Tier.STRUCTURED
    return Tier.TEXT if where is PhraseScope.TEXT else Tier.VERDICT


def _parse_tier(value: Any) -> Tier:
    if value not in _TIERS:
        raise ValueError(f"is {value!r}, but must be one of: {', '.join(_TIERS)}")
    return _TIERS[value]


def _parse_code(value: Any) -> str:
    return normalize_code(str(value) if isinstance(value, int) else parse_text(value))


def _parse_statuses(value: Any) -> frozenset[int]:
    if isinstance(value, str) and len(value) == 3 and value.endswith("xx") and value[0] in "12345":
        return frozenset(range(int(value[0]) * 100, int(value[0]) * 100 + 100))
    if isinstance(value, bool) or not isinstance(value, int) or not 100 <= value <= 599:
        raise ValueError(f'is {value!r}, but must be from 100 to 599, or such as "5xx"')
    return frozenset({value})


def _parse_exit_code(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not -255 <= value <= 255:
        raise ValueError(f"is {value!r}, but must be from -255 to 255")
    return value


def _parse_kinds(value: Any) -> frozenset[Kind]:
    return frozenset(Kind) if value == ANY_KIND else frozenset({_parse_kind(value)})


def _parse_phrase(value: Any) -> Phrase:
    try:
        return Phrase.parse(parse_text(value))
    except ValueError as error:
        raise ValueError(f"the phrase {value!r} {error}") from None


def _parse_example(value: Any) -> Failure:
    fields = {"message": value} if isinstance(value, str) else value
    if not isinstance(fields, dict) or not isinstance(fields.get("message"), str):
        raise ValueError("must be a string, or a table with a message")
    if unknown := fields.keys() - {"message", "type", "code", "status"}:
        raise ValueError(f"{', '.join(sorted(unknown))}: not a field of a failure")
    evidence = {name: value for name, value in fields.items() if name != "message"}
    return Failure.create(fields["message"], **evidence)
