"""Which secrets of the local stack are known to everybody."""

from __future__ import annotations

import pytest

from local.cli.default_secrets import list_default_secrets

OWN = {"DUECOURSE_TOKEN": "a", "SLACK_SIGNING_SECRET": "b", "TELEGRAM_SECRET_TOKEN": "c"}


def test_without_variables_all_are_defaults_but_a_closed_webhook() -> None:
    """Discord has no default: its webhook is closed."""
    assert list_default_secrets({}) == sorted(OWN)


@pytest.mark.parametrize("name", OWN)
def test_a_variable_with_the_default_value_is_a_default(name: str) -> None:
    assert list_default_secrets(OWN) == []
    assert list_default_secrets({**OWN, name: "local"}) == [name]
    assert list_default_secrets({**OWN, name: " local\n"}) == [name]


def test_an_empty_verification_secret_closes_its_webhook() -> None:
    assert list_default_secrets({**OWN, "SLACK_SIGNING_SECRET": ""}) == []


def test_an_empty_token_means_the_default() -> None:
    assert list_default_secrets({**OWN, "DUECOURSE_TOKEN": ""}) == ["DUECOURSE_TOKEN"]
