"""`duecourse completion`: the scripts that shells load."""

from __future__ import annotations

import subprocess

import pytest

from tests.cli.command_client import CommandClient


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "tcsh"])
def test_a_shell_can_load_its_completion(duecourse: CommandClient, shell: str) -> None:
    result = duecourse("completion", shell)

    assert (result.code, result.err) == (0, "")
    for word in ("check-handler", "max-retries", "pending_verification"):
        assert word in result.out


def test_bash_completes_commands_and_flags(duecourse: CommandClient) -> None:
    script = duecourse("completion", "bash").out
    query = "COMP_WORDS=(duecourse ta); COMP_CWORD=1; _shtab_duecourse duecourse ta duecourse"
    query += '; echo "${COMPREPLY[@]}"'

    result = subprocess.run(  # noqa: S603 - bash, with what we made
        ["bash", "-c", f"{script}\n{query}"],  # noqa: S607 - whichever bash is here
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )

    assert result.stdout.split() == ["tasks", "task"]
