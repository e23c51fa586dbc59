"""The deployment test can run every command of README's section on deployment."""

from __future__ import annotations

import pytest

from local.runtime.template import load_template
from tests.deploy.readme import deploy_commands, fill_in, parse_export

TOKEN = "dc_a-token"


def test_the_section_ends_with_a_first_reminder() -> None:
    assert deploy_commands()[-1] == '.venv/bin/duecourse add "stretch" --in 1m --channel log'


def test_the_reminder_gets_the_address_and_the_token_from_exports() -> None:
    outputs = {"ApiUrl": "https://api.example", "ApiTokensSecretArn": "arn"}
    filled = [fill_in(command, outputs, TOKEN) for command in deploy_commands()]

    exports = dict(export for one in filled if (export := parse_export(one)) is not None)

    assert exports == {"DUECOURSE_URL": "https://api.example", "DUECOURSE_TOKEN": TOKEN}


@pytest.mark.parametrize("command", deploy_commands())
def test_every_placeholder_is_filled_in(command: str) -> None:
    outputs = dict.fromkeys(load_template()["Outputs"], "filled-in")

    assert "<" not in fill_in(command, outputs, TOKEN)


def test_a_command_that_needs_the_token_before_it_is_printed_is_refused() -> None:
    with pytest.raises(AssertionError, match="no token"):
        fill_in("export DUECOURSE_TOKEN=<the token>", {}, None)


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("export DUECOURSE_URL=https://a.example/b", ("DUECOURSE_URL", "https://a.example/b")),
        ("make deploy", None),
        ("exported=1", None),
    ],
)
def test_an_export_is_a_name_and_a_value(command: str, expected: tuple[str, str] | None) -> None:
    assert parse_export(command) == expected
