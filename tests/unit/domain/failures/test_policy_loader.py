"""Loading policies and rules from TOML files, and the errors of invalid files."""

from __future__ import annotations

from datetime import timedelta

import pytest
from duecourse.adapters.runtime.policy_files import read_policies, read_policies_without_rules
from duecourse.domain.errors import PolicyError
from duecourse.domain.failures.policy import LimitUnit
from duecourse.domain.failures.policy_loader import find_wrong_examples, load_policies
from duecourse.domain.tasks.failure_kind import Kind
from duecourse.domain.tasks.recovery_action import Action

HEAD = """
about = "How the harbour master retries."
limits = "runs"
max_retries = 3
fallback = "unknown"
ladder = ["retry_with_guidance", "escalate_to_human"]

[categories.storm]
limit = 2
delays = ["30s", "2m"]
fix = "Wait."

[categories.unknown]
"""
RULE = """
[[rules]]
id = "gale"
category = "storm"
says = ["gale * force #"]
example = "a gale of force 9"
"""


def test_a_policy_is_loaded() -> None:
    policy = load_policies({"harbour.toml": HEAD + RULE})["harbour"]
    assert (policy.name, policy.limit_unit, policy.max_retries) == ("harbour", LimitUnit.RUNS, 3)
    assert policy.ladder == (Action.RETRY_WITH_GUIDANCE, Action.ESCALATE_TO_HUMAN)
    storm = policy.categories["storm"]
    assert storm.delays == (timedelta(seconds=30), timedelta(minutes=2))
    assert (storm.limit, storm.fix, storm.counts) == (2, "Wait.", True)
    assert [rule.id for rule in policy.rules] == ["gale"]
    assert find_wrong_examples(policy) == []


def line_of(needle: str, text: str) -> int:
    return next(n for n, line in enumerate(text.splitlines(), 1) if needle in line)


SHARED_KINDS = """kinds = ["network", "disk"]

[categories.unknown]
kinds = ["disk"]"""
INVALID_EDITS = [
    ("max_retries = 3", "max_retries = 0", "max_retries", "of at least 1"),
    ("max_retries = 3", "max_retries = true", "max_retries", "of at least 1"),
    ("max_retries = 3\n", "", "about", "max_retries is missing"),
    ('limits = "runs"', 'limits = "tides"', "limits", "must be one of: runs, retries"),
    ('fallback = "unknown"', 'fallback = "fog"', "fallback", "fog is not a category"),
    ("escalate_to_human", "sail_away", "ladder", "'sail_away', but must be one of"),
    ('fix = "Wait."', "fix = 7", "fix", "must be a non-empty string"),
    ('["30s", "2m"]', '["30s", "soon"]', "delays", "must be a duration"),
    ("limit = 2", "limit = -1", "limit = -1", "of at least 0"),
    ("limit = 2", 'deadline = "soon"', "deadline", "must be a duration"),
    ("limit = 2", 'at_limit = "retry"', "at_limit", "'retry', but must be one of: escalate_to"),
    ("max_retries = 3", 'jitter = "half"\nmax_retries = 3', "jitter", 'from 0 to 1, or "full"'),
    ("limit = 2", "counts = 1", "counts", "must be true or false"),
    ("limit = 2", "limt = 2", "limt", "is not a known key"),
    ("max_retries = 3", "max_retries = 3\ntides = 1", "tides", "is not a known key"),
    ('category = "storm"', 'category = "fog"', "fog", "fog is not a category"),
    ('category = "storm"\n', "", "[[rules]]", "category is missing"),
    ('id = "gale"\n', "", "[[rules]]", "id is missing"),
    ('says = ["gale * force #"]\n', "", "[[rules]]", "names no evidence"),
    ('["gale * force #"]', "[]", "says", "must not be an empty list"),
    ('["gale * force #"]', '["a * b * c * d"]', "says", "at most 2 wildcards"),
    ('["gale * force #"]', '["# *"]', "says", "must hold a word"),
    ('example = "a gale of force 9"\n', "", "[[rules]]", "has no example"),
    ('"a gale of force 9"', "{ text = 1 }", "example", "a table with a message"),
    ('"a gale of force 9"', '{ message = "x", mood = "y" }', "example", "mood: not a field"),
    ("says =", "status = [99]\nsays =", "status", "must be from 100 to 599"),
    ("says =", 'status = ["9xx"]\nsays =', "status", "must be from 100 to 599"),
    ("says =", "exit = [999]\nsays =", "exit", "must be from -255 to 255"),
    ("says =", "confidence = 2\nsays =", "confidence", "from 0 to 1"),
    ("max_retries = 3", "max_retries = 3\nmin_confidence = 80", "min_confidence", "from 0 to 1"),
    ("says =", 'where = "sea"\nsays =', "where", "must be one of: verdict, text"),
    ("says =", 'kind = "weather"\nsays =', "kind", "must be one of: auth, permission"),
    ("limit = 2", 'kinds = ["network", "weather"]', "kinds", "'weather', but must be one of"),
    ("[categories.unknown]", SHARED_KINDS, 'kinds = ["disk"]', "disk is a kind of storm already"),
    ("says =", 'tier = "deck"\nsays =', "tier", "must be one of: overruling"),
    ("says =", "saz = 1\nsays =", "saz", "is not a known key"),
    ('limits = "runs"', 'limits = "runs', 'limits = "runs', "line 3"),
]


@pytest.mark.parametrize(("old", "new", "located_by", "message"), INVALID_EDITS)
def test_an_error_names_its_line(old: str, new: str, located_by: str, message: str) -> None:
    text = (HEAD + RULE).replace(old, new, 1)
    with pytest.raises(PolicyError) as error:
        load_policies({"harbour.toml": text})
    line = 1 if located_by == "about" else line_of(located_by, text)
    assert str(error.value).startswith(f"harbour.toml, line {line}: ")
    assert message in str(error.value)


def test_a_duplicate_rule_id_is_rejected() -> None:
    with pytest.raises(PolicyError, match="line 22: rule gale: id: another rule has this id"):
        load_policies({"harbour.toml": HEAD + RULE + RULE})


def test_an_error_in_an_inline_category_names_its_line() -> None:
    text = HEAD.partition("[categories")[0] + "[categories]\nunknown = { limit = -1 }\n"
    with pytest.raises(PolicyError, match="line 9: category unknown: limit: must be"):
        load_policies({"harbour.toml": text})


def test_inherited_rules_come_after_the_policys_own() -> None:
    inheriting = HEAD.replace("max_retries = 3", 'max_retries = 3\nrules_of = "harbour"')
    texts = {"harbour.toml": HEAD + RULE, "pier.toml": inheriting + RULE.replace("gale", "squall")}
    assert [rule.id for rule in load_policies(texts)["pier"].rules] == ["squall", "gale"]


def test_rules_can_be_inherited_from_several_policies() -> None:
    texts = {
        "harbour.toml": HEAD + RULE,
        "quay.toml": HEAD + RULE.replace("gale", "squall"),
        "bay.toml": HEAD.replace("max_retries = 3", 'max_retries = 3\nrules_of = "quay"'),
        "pier.toml": HEAD.replace(
            "max_retries = 3", 'max_retries = 3\nrules_of = ["bay", "quay", "harbour"]'
        ),
    }
    assert [rule.id for rule in load_policies(texts)["pier"].rules] == ["squall", "gale"]


def test_a_policy_can_bound_its_retries_by_time_and_say_what_follows() -> None:
    text = HEAD.replace("limit = 2", 'limit = 0\ndeadline = "1h"\nat_limit = "give_up"')
    policy = load_policies({"harbour.toml": 'jitter = "full"\n' + text})["harbour"]
    storm = policy.categories["storm"]
    assert (storm.limit, storm.deadline, storm.at_limit) == (0, timedelta(hours=1), Action.GIVE_UP)
    assert (policy.has_full_jitter, policy.jitter) == (True, 0.0)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("sea", "pier.toml, line 5: rules_of: there is no policy sea"),
        ("pier", "pier inherits its rules from itself"),
        ("quay", "inherits its rules from itself"),
        ("harbour", "harbour's rule gale needs a category storm"),
    ],
)
def test_rules_that_cannot_be_inherited_are_rejected(source: str, message: str) -> None:
    def inheriting_policy(name: str) -> str:
        without_storm = HEAD.replace("[categories.storm]", "[categories.calm]")
        return without_storm.replace("max_retries = 3", f'max_retries = 3\nrules_of = "{name}"')

    texts = {"pier.toml": inheriting_policy(source), "quay.toml": inheriting_policy("pier")}
    with pytest.raises(PolicyError, match=message):
        load_policies(texts | {"harbour.toml": HEAD + RULE})


def test_a_rule_without_a_kind_has_the_first_kind_of_its_category() -> None:
    text = HEAD.replace("limit = 2", 'kinds = ["network", "timeout"]')
    own = RULE.replace("gale", "squall").replace("says =", 'kind = "timeout"\nsays =')
    rules = load_policies({"harbour.toml": text + RULE + own})["harbour"].rules
    assert [rule.kind for rule in rules] == [Kind.NETWORK, Kind.TIMEOUT]


def test_an_inherited_rule_gets_the_category_that_names_its_kind() -> None:
    source = HEAD.replace("limit = 2", 'kinds = ["network"]')
    pier = HEAD.replace("max_retries = 3", 'max_retries = 3\nrules_of = "harbour"')
    texts = {
        "harbour.toml": source + RULE,
        "pier.toml": pier.replace("storm", "weather").replace("limit = 2", 'kinds = ["network"]'),
        "quay.toml": pier,
    }
    policies = load_policies(texts)
    categories = {name: policy.rules[0].category for name, policy in policies.items()}
    assert categories == {"harbour": "storm", "pier": "weather", "quay": "storm"}
    assert policies["pier"].rules[0].kind is Kind.NETWORK


def test_an_example_that_another_rule_decides_is_reported() -> None:
    text = HEAD + RULE.replace("a gale of force 9", "a breeze")
    policy = load_policies({"harbour.toml": text})["harbour"]
    assert find_wrong_examples(policy) == [
        "rule gale: its example 'a breeze' is decided by unknown"
    ]


def test_a_policy_that_inherits_rules_inherits_their_fixes() -> None:
    policies = read_policies()
    assert (
        policies["omega"].categories["timeout"].fix == policies["agent"].categories["timeout"].fix
    )


# Rules in a separate file


def test_rules_are_loaded_from_a_separate_file() -> None:
    policy = load_policies({"harbour.toml": HEAD, "harbour.rules.toml": RULE})["harbour"]
    assert [rule.id for rule in policy.rules] == ["gale"]


def test_rules_in_a_separate_file_can_be_inherited() -> None:
    texts = {"harbour.toml": HEAD, "harbour.rules.toml": RULE}
    texts["pier.toml"] = 'rules_of = "harbour"\n' + HEAD
    assert [rule.id for rule in load_policies(texts)["pier"].rules] == ["gale"]


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ({"pier.rules.toml": RULE}, "pier.rules.toml, line 1: there is no pier.toml"),
        (
            {"harbour.toml": HEAD + RULE, "harbour.rules.toml": RULE},
            "harbour.rules.toml, line 1: the policy itself has a rule gale too",
        ),
        (
            {"harbour.toml": HEAD, "harbour.rules.toml": "about = 1\n" + RULE},
            "harbour.rules.toml, line 1: about: is not a known key",
        ),
        (
            {"harbour.toml": HEAD, "harbour.rules.toml": RULE.replace("storm", "calm")},
            "harbour.rules.toml, line 4: .*calm",
        ),
    ],
    ids=["no such policy", "duplicate rule", "not only rules", "no such category"],
)
def test_an_invalid_rules_file_is_rejected_by_name(texts: dict[str, str], message: str) -> None:
    with pytest.raises(PolicyError, match=message):
        load_policies(texts)


def test_an_outline_contains_everything_but_the_rules() -> None:
    complete, outlines = read_policies(), read_policies_without_rules()
    assert {name: policy.categories for name, policy in outlines.items()} == {
        name: policy.categories for name, policy in complete.items()
    }
    assert {policy.rules for policy in outlines.values()} == {()}
