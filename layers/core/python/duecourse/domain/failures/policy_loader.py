"""Policies from the text of their TOML files, or one sentence about the first thing wrong."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Container, Mapping
from dataclasses import replace
from typing import Any

from duecourse.domain.errors import PolicyError
from duecourse.domain.failures.classifier.engine import diagnose
from duecourse.domain.failures.classifier.rule import Rule
from duecourse.domain.failures.classifier.rule_loader import read_rule
from duecourse.domain.failures.policy import Category, Limits, Policy
from duecourse.domain.tasks.recovery_action import Action
from duecourse.domain.time.duration import parse_duration
from duecourse.domain.validation.toml_table import Table, flag, one_of, positive, share, text

_SUFFIX = ".toml"
RULES_SUFFIX = ".rules.toml"


def load_policies(texts: Mapping[str, str]) -> dict[str, Policy]:
    """From file names and texts; a policy has its file's name. Raises PolicyError.

    Its rules may stand in a file of their own beside it: agent.toml and agent.rules.toml.
    """
    tables = {file: _table(file, toml) for file, toml in texts.items()}
    outlines = {
        file.removesuffix(_SUFFIX): table
        for file, table in tables.items()
        if not file.endswith(RULES_SUFFIX)
    }
    policies = {name: _policy(name, table) for name, table in outlines.items()}
    for file in tables.keys() - {f"{name}{_SUFFIX}" for name in outlines}:
        name = file.removesuffix(RULES_SUFFIX)
        if name not in policies:
            tables[file].refuse(f"there is no {name}{_SUFFIX} that these rules could be of")
        policies[name] = _with_own_rules(policies[name], tables[file])
    return {name: _with_taken_rules(name, policies, outlines) for name in outlines}


def wrong_examples(policy: Policy) -> list[str]:
    """A sentence for each example of a rule that the rule does not decide."""
    wrong = []
    for rule in policy.rules:
        for example in rule.examples:
            found = diagnose(example, policy)
            if found.pattern != rule.id:
                shown = " ".join(example.message.split())[:80]
                wrong.append(f"rule {rule.id}: its example {shown!r} is decided by {found.pattern}")
    return wrong


def _table(file: str, toml: str) -> Table:
    try:
        values = tomllib.loads(toml)
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"at line (\d{1,9})", str(error))
        raise PolicyError(file, int(line[1]) if line else None, str(error)) from None
    return Table(values=values, file=file, lines=toml.splitlines())


def _policy(name: str, table: Table) -> Policy:
    categories = _categories(table)
    policy = Policy(
        name=name,
        about=table.need("about", text),
        limits=table.need("limits", one_of(Limits)),
        max_retries=table.need("max_retries", positive),
        jitter=table.read("jitter", share, 0.0),
        fallback=table.need("fallback", text),
        categories=categories,
        rules=_rules(table, categories),
        ladder=table.some("ladder", one_of(Action)),
    )
    if policy.fallback not in categories:
        table.refuse(f"{policy.fallback} is not a category of this policy", "fallback")
    table.read("rules_of", text, None)
    table.check_all_read()
    return policy


def _categories(table: Table) -> dict[str, Category]:
    categories = {}
    for name, values in table.need("categories", _tables).items():
        header = f"[categories.{name}]"
        # A short one may be written inline, below [categories].
        header = header if header in table.lines else f"{name} ="
        categories[name] = _category(name, table.inner(f"category {name}", values, header=header))
    return categories


def _category(name: str, table: Table) -> Category:
    category = Category(
        name=name,
        counts=table.read("counts", flag, True),
        limit=table.read("limit", positive, None),
        delays=table.some("delays", parse_duration),
        until_budget_clears=table.read("until_budget_clears", flag, False),
        server_time_wins=table.read("server_time_wins", flag, False),
        subject_limit=table.read("subject_limit", positive, None),
        trips_breaker=table.read("trips_breaker", flag, False),
        needs_spec_refresh=table.read("needs_spec_refresh", flag, False),
        fix=table.read("fix", text, ""),
    )
    table.check_all_read()
    return category


def _rules(table: Table, categories: Container[str]) -> tuple[Rule, ...]:
    rules: dict[str, Rule] = {}
    tables: list[Any] = table.read("rules", _list_of_tables, [])
    for nth, values in enumerate(tables):
        inner = table.inner("rules", values, header="[[rules]]", nth=nth)
        rule = read_rule(inner, categories)
        if rule.id in rules:
            inner.refuse("there is a rule of this id already", "id")
        rules[rule.id] = rule
    return tuple(rules.values())


def _with_own_rules(policy: Policy, table: Table) -> Policy:
    rules = _rules(table, policy.categories)
    table.check_all_read()
    if twice := {rule.id for rule in policy.rules} & {rule.id for rule in rules}:
        table.refuse(f"there is a rule {min(twice)} beside the policy already")
    return replace(policy, rules=(*policy.rules, *rules))


def _with_taken_rules(
    name: str, policies: Mapping[str, Policy], tables: Mapping[str, Table]
) -> Policy:
    """Its own rules come first, so that a team can overrule those it takes by `rules_of`."""
    policy, table = policies[name], tables[name]
    rules, categories = list(policy.rules), dict(policy.categories)
    for source in _sources(name, tables):
        categories = _with_taken_fixes(categories, policies[source].categories)
        for rule in policies[source].rules:
            if rule.category not in policy.categories:
                needs = f"{source}'s rule {rule.id} needs a category {rule.category}"
                table.refuse(f"{needs}, which is not defined here", "rules_of")
            rules.append(rule)
    return replace(policy, rules=tuple(rules), categories=categories)


def _with_taken_fixes(
    own: Mapping[str, Category], taken: Mapping[str, Category]
) -> dict[str, Category]:
    """What to do about an error does not depend on who waits how long."""
    return {
        name: replace(one, fix=one.fix or taken[name].fix) if name in taken else one
        for name, one in own.items()
    }


def _sources(name: str, tables: Mapping[str, Table]) -> list[str]:
    sources: list[str] = []
    while source := tables[sources[-1] if sources else name].values.get("rules_of"):
        if source not in tables:
            tables[name].refuse(f"there is no policy {source}", "rules_of")
        if source == name or source in sources:
            tables[name].refuse(f"{source} takes its rules from itself in the end", "rules_of")
        sources.append(source)
    return sources


def _tables(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict) or not value:
        raise ValueError("must be a table of some categories")
    return value


def _list_of_tables(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError("must be written as [[rules]] tables")
    return value
