"""JSON without its secrets has the same shape."""

from __future__ import annotations

from typing import Any

import pytest
from duecourse.domain.text.redact_json import mask_leaves, redact_json


@pytest.mark.parametrize(
    ("value", "redacted"),
    [
        ("token=hunter22", "token=[redacted]"),
        ({"password": "hunter22"}, {"password": "[redacted]"}),
        ({"Authorization": "Basic hunter22"}, {"Authorization": "[redacted]"}),
        ({"api_key": 22_222_222}, {"api_key": "[redacted]"}),
        ({"password": ["hunter22", None]}, {"password": ["[redacted]", None]}),
        ({"a": [{"client_secret": "hunter22"}]}, {"a": [{"client_secret": "[redacted]"}]}),
        ({"pass": "hunter22", "_auth": "hunter22"}, {"pass": "[redacted]", "_auth": "[redacted]"}),
        (["tool", "--token", "hunter22 x"], ["tool", "--token", "[redacted]"]),
        (["tool", "--token=hunter22", "a"], ["tool", "--token=[redacted]", "a"]),
        (["mysql", "-u", "root", "-phunter22"], ["mysql", "-u", "root", "-p[redacted]"]),
        (["docker", "login", "-p", "hunter22"], ["docker", "login", "-p", "[redacted]"]),
        (["curl", "-u", "ada:hunter22", "x.test"], ["curl", "-u", "ada:[redacted]", "x.test"]),
        ([["https://ada:hunter22@x.test/"]], [["https://[redacted]@x.test/"]]),
    ],
)
def test_secrets_are_redacted_by_form_and_by_key(value: Any, redacted: Any) -> None:
    assert redact_json(value) == redacted


@pytest.mark.parametrize(
    "value",
    [
        None,
        7,
        1.5,
        True,
        "",
        [],
        {},
        {"password": None, "has_token": True},
        {
            "max_tokens": 200,
            "tokens": 3,
            "key": "k",
            "idempotency_key": "abc",
            "secret_name": "crm",
        },
        {"command": ["docker", "run", "-p", "80:80", "app"], "args": ["-v", "--max-tokens", "9"]},
        ["mkdir", "-p", "a/b", 3, None],
        {"text": "the password is wrong", "list": ["a", {"b": "c"}]},
    ],
)
def test_everything_else_stays(value: Any) -> None:
    assert redact_json(value) == value


def test_what_is_nested_too_deeply_is_not_shown() -> None:
    value: Any = "hunter22"
    for _ in range(5_000):
        value = [value]
    assert redact_json(value) == "[redacted]"


def test_a_long_text_is_searched_as_a_whole() -> None:
    text = "word " * 50_000
    assert redact_json(f"{text}token=hunter22 {text}") == f"{text}token=[redacted] {text}"


def test_masking_replaces_every_value_but_null() -> None:
    value = {"a": ["x", 1, False, None, {}], "b": {"c": ""}}
    masked: Any = {
        "a": ["[redacted]", "[redacted]", "[redacted]", None, {}],
        "b": {"c": "[redacted]"},
    }
    assert mask_leaves(value) == masked
