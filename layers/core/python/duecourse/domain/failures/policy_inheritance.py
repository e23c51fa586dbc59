"""Adds the rules and fixes that a policy inherits with `rules_of`. Raises PolicyError."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from duecourse.domain.failures.policy import Category, Policy
from duecourse.domain.validation.toml_table import TomlTable, parse_text


def add_inherited_rules(
    name: str, policies: Mapping[str, Policy], tables: Mapping[str, TomlTable]
) -> Policy:
    """Append the rules that `rules_of` names. The policy's own rules come first and so win.

    An inherited rule gives the category that names its kind, if there is one, else its own.
    """
    policy, table = policies[name], tables[name]
    rules, categories = list(policy.rules), dict(policy.categories)
    for source in _inheritance_chain(name, tables):
        categories = _inherit_fixes(categories, policies[source].categories)
        for rule in policies[source].rules:
            by_kind = policy.category_of(rule.kind) if rule.kind else None
            category = by_kind.name if by_kind else rule.category
            if category not in policy.categories:
                problem = f"{source}'s rule {rule.id} needs a category {rule.category}"
                table.fail(f"{problem}, which is not defined here", "rules_of")
            rules.append(rule if category == rule.category else replace(rule, category=category))
    return replace(policy, rules=tuple(rules), categories=categories)


def _inherit_fixes(
    own: Mapping[str, Category], inherited: Mapping[str, Category]
) -> dict[str, Category]:
    """Fill in missing fix texts from `inherited`. A fix does not depend on delays and limits."""
    return {
        name: replace(category, fix=category.fix or inherited[name].fix)
        if name in inherited
        else category
        for name, category in own.items()
    }


def _inheritance_chain(
    name: str, tables: Mapping[str, TomlTable], heirs: tuple[str, ...] = ()
) -> list[str]:
    """Return the policies whose rules `name` has, in order. Each occurs once.

    `heirs` are the policies that inherit from `name`.
    """
    chain: list[str] = []
    for source in tables[name].read_list("rules_of", parse_text):
        if source not in tables:
            tables[name].fail(f"there is no policy {source}", "rules_of")
        if source in (name, *heirs):
            tables[name].fail(f"{source} inherits its rules from itself", "rules_of")
        chain += [source, *_inheritance_chain(source, tables, (name, *heirs))]
    return list(dict.fromkeys(chain))
