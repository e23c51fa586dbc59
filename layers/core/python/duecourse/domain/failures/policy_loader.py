"""Loads policies from their TOML files. Raises PolicyError for the first problem."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

from duecourse.domain.errors import PolicyError
from duecourse.domain.failures.classifier.confidence_table import is_weak
from duecourse.domain.failures.classifier.engine import find_rule
from duecourse.domain.failures.classifier.rule import Rule
from duecourse.domain.failures.classifier.rule_loader import parse_rule
from duecourse.domain.failures.diagnosis import UNKNOWN_PATTERN
from duecourse.domain.failures.policy import DEFAULT_MIN_CONFIDENCE, Category, LimitUnit, Policy
from duecourse.domain.failures.policy_inheritance import add_inherited_rules
from duecourse.domain.tasks.failure_kind import Kind
from duecourse.domain.tasks.recovery_action import Action
from duecourse.domain.time.duration import parse_duration
from duecourse.domain.validation.toml_table import (
    TomlTable,
    enum_parser,
    parse_bool,
    parse_fraction,
    parse_natural,
    parse_positive_int,
    parse_text,
)

_SUFFIX = ".toml"
RULES_SUFFIX = ".rules.toml"
FULL_JITTER = "full"
NO_JITTER: float | None = 0.0
_FINAL_ACTIONS = (Action.ESCALATE_TO_HUMAN, Action.MARK_AS_BLOCKED, Action.GIVE_UP)


def load_policies(
    texts: Mapping[str, str], measured: Mapping[str, Collection[str]] | None = None
) -> dict[str, Policy]:
    """Load policies from a mapping of file names to texts. Raises PolicyError.

    A policy is named after its file. Its rules may be in a second file: agent.toml and
    agent.rules.toml. `measured`: the ids of its rules whose confidence is measured, by policy.
    """
    tables = {file: _parse_toml(file, toml) for file, toml in texts.items()}
    outlines = {
        file.removesuffix(_SUFFIX): table
        for file, table in tables.items()
        if not file.endswith(RULES_SUFFIX)
    }
    policies = {name: _parse_policy(name, table) for name, table in outlines.items()}
    for file in tables.keys() - {f"{name}{_SUFFIX}" for name in outlines}:
        name = file.removesuffix(RULES_SUFFIX)
        if name not in policies:
            tables[file].fail(f"there is no {name}{_SUFFIX} for these rules")
        policies[name] = _add_own_rules(policies[name], tables[file])
    policies = {
        name: _mark_rules(policy, (measured or {}).get(name, ()))
        for name, policy in policies.items()
    }
    return {name: add_inherited_rules(name, policies, outlines) for name in outlines}


def find_wrong_examples(policy: Policy) -> list[str]:
    """Return a message for each example that its own rule does not decide."""
    messages = []
    for rule in policy.rules:
        for example in rule.examples:
            decided_by = find_rule(example, policy)
            if decided_by is not rule:
                excerpt = " ".join(example.message.split())[:80]
                messages.append(
                    f"rule {rule.id}: its example {excerpt!r} is decided by "
                    f"{decided_by.id if decided_by else UNKNOWN_PATTERN}"
                )
    return messages


def _parse_toml(file: str, toml: str) -> TomlTable:
    try:
        values = tomllib.loads(toml)
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"at line (\d{1,9})", str(error))
        raise PolicyError(file, int(line[1]) if line else None, str(error)) from None
    return TomlTable(values=values, file=file, lines=toml.splitlines())


def _parse_policy(name: str, table: TomlTable) -> Policy:
    categories = _parse_categories(table)
    jitter = table.read("jitter", _parse_jitter, NO_JITTER)
    policy = Policy(
        name=name,
        about=table.require("about", parse_text),
        limit_unit=table.require("limits", enum_parser(LimitUnit)),
        max_retries=table.require("max_retries", parse_positive_int),
        jitter=jitter or 0.0,
        fallback=table.require("fallback", parse_text),
        categories=categories,
        rules=_parse_rules(table, categories),
        ladder=table.read_list("ladder", enum_parser(Action)),
        has_full_jitter=jitter is None,
        min_confidence=table.read("min_confidence", parse_fraction, DEFAULT_MIN_CONFIDENCE),
    )
    if policy.fallback not in categories:
        table.fail(f"{policy.fallback} is not a category of this policy", "fallback")
    table.read_list("rules_of", parse_text)
    table.reject_unknown_keys()
    return policy


def _parse_categories(table: TomlTable) -> dict[str, Category]:
    categories: dict[str, Category] = {}
    for name, values in table.require("categories", _require_table).items():
        header = f"[categories.{name}]"
        # A short category may be an inline table below [categories].
        header = header if header in table.lines else f"{name} ="
        category_table = table.subtable(f"category {name}", values, header=header)
        category = _parse_category(name, category_table)
        _reject_shared_kinds(category, categories.values(), category_table)
        categories[name] = category
    return categories


def _reject_shared_kinds(category: Category, others: Iterable[Category], table: TomlTable) -> None:
    for other in others:
        if shared := set(category.kinds) & set(other.kinds):
            table.fail(f"{min(shared)} is a kind of {other.name} already", "kinds")


def _parse_category(name: str, table: TomlTable) -> Category:
    category = Category(
        name=name,
        kinds=table.read_list("kinds", enum_parser(Kind)),
        counts=table.read("counts", parse_bool, True),
        limit=table.read("limit", parse_natural, None),
        delays=table.read_list("delays", parse_duration),
        deadline=table.read("deadline", parse_duration, None),
        at_limit=table.read("at_limit", _parse_final_action, None),
        until_budget_clears=table.read("until_budget_clears", parse_bool, False),
        server_time_wins=table.read("server_time_wins", parse_bool, False),
        subject_limit=table.read("subject_limit", parse_positive_int, None),
        subject_delays=table.read_list("subject_delays", parse_duration),
        trips_breaker=table.read("trips_breaker", parse_bool, False),
        needs_spec_refresh=table.read("needs_spec_refresh", parse_bool, False),
        fix=table.read("fix", parse_text, ""),
    )
    table.reject_unknown_keys()
    return category


def _parse_rules(table: TomlTable, categories: Mapping[str, Category]) -> tuple[Rule, ...]:
    rules: dict[str, Rule] = {}
    tables: list[Any] = table.read("rules", _require_table_list, [])
    for index, values in enumerate(tables):
        rule_table = table.subtable("rules", values, header="[[rules]]", nth=index)
        rule = parse_rule(rule_table, categories)
        if rule.id in rules:
            rule_table.fail("another rule has this id", "id")
        rules[rule.id] = replace(rule, kind=rule.kind or categories[rule.category].kind)
    return tuple(rules.values())


def _add_own_rules(policy: Policy, table: TomlTable) -> Policy:
    rules = _parse_rules(table, policy.categories)
    table.reject_unknown_keys()
    if duplicate_ids := {rule.id for rule in policy.rules} & {rule.id for rule in rules}:
        table.fail(f"the policy itself has a rule {min(duplicate_ids)} too")
    return replace(policy, rules=(*policy.rules, *rules))


def _mark_rules(policy: Policy, measured_ids: Collection[str]) -> Policy:
    """Note in each rule what depends on its own policy, before others inherit it."""
    rules = (
        replace(
            rule,
            is_measured=rule.id in measured_ids,
            is_weak=is_weak(rule, fallback=policy.fallback),
        )
        for rule in policy.rules
    )
    return replace(policy, rules=tuple(rules))


def _parse_jitter(value: Any) -> float | None:
    """Return the largest share of a delay that is added to it; None for full jitter."""
    if value == FULL_JITTER:
        return None
    try:
        return parse_fraction(value)
    except ValueError as error:
        raise ValueError(f'{error}, or "{FULL_JITTER}"') from None


def _parse_final_action(value: Any) -> Action:
    if value not in _FINAL_ACTIONS:
        choices = ", ".join(_FINAL_ACTIONS)
        raise ValueError(f"is {value!r}, but must be one of: {choices}")
    return Action(value)


def _require_table(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict) or not value:
        raise ValueError("must be a table with at least one category")
    return value


def _require_table_list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError("must be written as [[rules]] tables")
    return value
