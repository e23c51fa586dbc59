"""`duecourse completion`: what shells load."""

from __future__ import annotations

import subprocess

import pytest

from tests.cli.client import Client


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "tcsh"])
def test_a_shell_can_load_its_completion(duecourse: Client, shell: str) -> None:
    done = duecourse("completion", shell)

    assert (done.code, done.err) == (0, "")
    for word in ("check-handler", "max-retries", "pending_verification"):
        assert word in done.out


def test_bash_completes_commands_and_flags(duecourse: Client) -> None:
    script = duecourse("completion", "bash").out
    ask = "COMP_WORDS=(duecourse ta); COMP_CWORD=1; _shtab_duecourse duecourse ta duecourse"
    ask += '; echo "${COMPREPLY[@]}"'

    done = subprocess.run(  # noqa: S603 - bash, with what we made
        ["bash", "-c", f"{script}\n{ask}"],  # noqa: S607 - whichever bash is here
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )

    assert done.stdout.split() == ["tasks", "task"]
