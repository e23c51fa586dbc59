"""The parameters of version 0.1 keep their effect, and never hide a value of the new ones."""

from __future__ import annotations

import re
from typing import Any

import pytest

from local.runtime.template import ROOT, Resolver, resources_of_type

Template = dict[str, Any]
# Old name, new name, variable, and two values that are not the default.
RENAMED = [
    ("VerificationHours", "VerificationTimeoutHours", "VERIFICATION_TIMEOUT_HOURS", "48", "72"),
    ("BlockedHours", "BlockedTimeoutHours", "BLOCKED_TIMEOUT_HOURS", "48", "72"),
    ("Operators", "OperatorChats", "OPERATOR_CHATS", "slack:C1,slack:C2", "slack:C3"),
    ("LatenessSeconds", "LateAfterSeconds", "LATE_AFTER_SECONDS", "300", "600"),
]
every_renamed = pytest.mark.parametrize(("old", "new", "variable", "one", "other"), RENAMED)


def variable_with(template: Template, variable: str, **parameters: str) -> str:
    functions = resources_of_type(template, "AWS::Lambda::Function").values()
    resolver = Resolver(template, parameters)
    [value] = {
        str(resolver.resolve(function["Environment"]["Variables"][variable]))
        for function in functions
    }
    return value


@every_renamed
def test_a_value_under_the_old_name_still_counts(
    template: Template, old: str, new: str, variable: str, one: str, other: str
) -> None:
    del new, other
    assert variable_with(template, variable, **{old: one}) == one


@every_renamed
def test_a_value_under_the_new_name_wins(
    template: Template, old: str, new: str, variable: str, one: str, other: str
) -> None:
    """A stack of version 0.1 has a value under each old name, at least its default of then."""
    assert variable_with(template, variable, **{old: one, new: other}) == other
    assert variable_with(template, variable, **{new: other}) == other


@every_renamed
def test_without_either_the_default_of_the_new_name_counts(
    template: Template, old: str, new: str, variable: str, one: str, other: str
) -> None:
    del old, one, other
    default = str(template["Parameters"][new]["Default"])
    assert variable_with(template, variable) == default


@every_renamed
def test_the_old_name_is_deprecated_and_accepts_its_values(
    template: Template, old: str, new: str, variable: str, one: str, other: str
) -> None:
    del variable, other
    parameter = template["Parameters"][old]
    assert parameter["Default"] == ""
    assert parameter["Description"].startswith(f"Deprecated, use {new}.")
    pattern = parameter.get("AllowedPattern", ".*")
    assert re.fullmatch(pattern, one)
    assert re.fullmatch(pattern, "")
    assert f"`{old}`" in (ROOT / "docs" / "upgrading.md").read_text()
