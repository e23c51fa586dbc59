"""Reads one `[[rules]]` table."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

from duecourse.domain.failures.classifier.phrase import Phrase
from duecourse.domain.failures.classifier.rule import Rule, Tier, Where, folded
from duecourse.domain.failures.failure import Failure
from duecourse.domain.validation.toml_table import Table, flag, one_of, share, text

USUAL_CONFIDENCE = 0.9
ANY = "*"
_EVIDENCE = ("type", "code", "status", "exit", "says")
_TIERS = {tier.name.lower(): tier for tier in Tier}


def read_rule(table: Table, categories: Container[str]) -> Rule:
    table.label = f"rule {table.need('id', text)}"
    if not any(key in table.values for key in _EVIDENCE):
        table.refuse(f"names no evidence: it needs one of {', '.join(_EVIDENCE)}")
    rule = _rule(table)
    if rule.category not in categories:
        table.refuse(f"{rule.category} is not a category of this policy", "category")
    if not rule.examples:
        table.refuse("has no example; give one that the rule decides")
    table.check_all_read()
    return rule


def _rule(table: Table) -> Rule:
    where = table.read("where", one_of(Where), Where.VERDICT)
    types = table.some("type", text)
    return Rule(
        id=table.need("id", text),
        category=table.need("category", text),
        confidence=table.read("confidence", share, USUAL_CONFIDENCE),
        tier=table.read("tier", _tier, _usual_tier(table, where)),
        where=where,
        types=frozenset(folded(name) for name in types if name[0] != ANY),
        type_ends=tuple(folded(name) for name in types if name[0] == ANY),
        codes=frozenset(table.some("code", _folded)),
        statuses=frozenset().union(*table.some("status", _statuses)),
        exits=frozenset(table.some("exit", _exit)),
        says=table.some("says", _phrase),
        unless=table.some("unless", _phrase),
        fix=table.read("fix", text, None),
        blames_subject=table.read("blames_subject", flag, True),
        examples=table.some("example", _example) + table.some("examples", _example),
    )


def _usual_tier(table: Table, where: Where) -> Tier:
    if any(key in table.values for key in _EVIDENCE[:-1]):
        return Tier.OVERRULING if "says" in table.values else Tier.STRUCTURED
    return Tier.TEXT if where is Where.TEXT else Tier.VERDICT


def _tier(value: Any) -> Tier:
    if value not in _TIERS:
        raise ValueError(f"is {value!r}, but must be one of: {', '.join(_TIERS)}")
    return _TIERS[value]


def _folded(value: Any) -> str:
    return folded(str(value) if isinstance(value, int) else text(value))


def _statuses(value: Any) -> frozenset[int]:
    if isinstance(value, str) and len(value) == 3 and value.endswith("xx") and value[0] in "12345":
        return frozenset(range(int(value[0]) * 100, int(value[0]) * 100 + 100))
    if isinstance(value, bool) or not isinstance(value, int) or not 100 <= value <= 599:
        raise ValueError(f'is {value!r}, but must be from 100 to 599, or such as "5xx"')
    return frozenset({value})


def _exit(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not -255 <= value <= 255:
        raise ValueError(f"is {value!r}, but must be from -255 to 255")
    return value


def _phrase(value: Any) -> Phrase:
    try:
        return Phrase.of(text(value))
    except ValueError as error:
        raise ValueError(f"the phrase {value!r} {error}") from None


def _example(value: Any) -> Failure:
    fields = {"message": value} if isinstance(value, str) else value
    if not isinstance(fields, dict) or not isinstance(fields.get("message"), str):
        raise ValueError("must be a text, or a table with a message")
    if unknown := fields.keys() - {"message", "type", "code", "status"}:
        raise ValueError(f"{', '.join(sorted(unknown))}: not a field of a failure")
    evidence = {name: value for name, value in fields.items() if name != "message"}
    return Failure.of(fields["message"], **evidence)
