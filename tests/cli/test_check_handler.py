"""`duecourse check-handler` as a person meets it: in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from local.runtime.template import ROOT

DUECOURSE = Path(sys.executable).with_name("duecourse")
AT_THE_EFFECT = ["--only", "handler.mutate"]
LIES = """
from duecourse import Handler, NotApplied

class Lies(Handler):
    def mutate(self, context):
        return 1

    def reconcile(self, context):
        return NotApplied()

class Fails(Handler):
    def mutate(self, context):
        raise RuntimeError("the bulb is broken")

HANDLERS = {"lies": Lies(), "fails": Fails()}
"""


def run(*arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 - our own command
        [str(DUECOURSE), "check-handler", *arguments],
        cwd=ROOT,
        env=env,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture
def team(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "team_of_liars.py").write_text(LIES)
    return {"HANDLERS_MODULE": "team_of_liars", "PYTHONPATH": str(tmp_path)}


def test_a_shipped_handler_whose_repeat_is_harmless_passes_and_says_so() -> None:
    done = run("reminder", *AT_THE_EFFECT)

    assert done.returncode == 0, done.stderr
    assert "after handler.mutate" in done.stdout.partition("\n\n")[0]
    assert "Effect repeated, which the handler declares safe: after" in done.stdout
    assert "running at least 2 crashes" in done.stderr


def test_as_json_it_is_for_programs() -> None:
    done = run("reminder", *AT_THE_EFFECT, "--json")

    told = json.loads(done.stdout)
    assert (told["type"], told["is_sound"], told["idempotent"]) == ("reminder", True, True)
    assert told["doubles"][0] == "after handler.mutate"
    assert told["rounds"][0] == {
        "crash": None,
        "status": "delivered",
        "effects": 1,
        "runs": [{"status": "committed", "phase": "committed", "mutation": "applied"}],
        "error": None,
    }


def test_a_handler_whose_effect_could_come_twice_fails(team: dict[str, str]) -> None:
    done = run("lies", *AT_THE_EFFECT, **team)

    assert done.returncode == 1
    assert "EFFECT REPEATED: after handler.mutate; " in done.stdout
    assert done.stderr.splitlines()[-1] == ("duecourse: lies is not crash-safe")


def test_a_handler_that_fails_without_a_crash_is_told(team: dict[str, str]) -> None:
    done = run("fails", **team)

    assert (done.returncode, done.stdout) == (1, "")
    assert "the bulb is broken" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ([], "type"),
        (["nobody"], "unknown type nobody; known types: action,"),
        (["reminder", "--payload", "{"], "--payload is not JSON"),
        (["reminder", "--payload", "[]"], "--payload must be a JSON object"),
        (["action", "--payload", "{}"], "--payload: payload: provider: must be one of"),
    ],
)
def test_bad_usage_is_one_line_that_names_what_is_wrong(arguments: list[str], named: str) -> None:
    done = run(*arguments)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert named in done.stderr


def test_a_module_that_is_not_there_is_named() -> None:
    done = run("reminder", HANDLERS_MODULE="nowhere_to_be_found")

    assert (done.returncode, done.stdout) == (1, "")
    assert "HANDLERS_MODULE: there is no module nowhere_to_be_found" in done.stderr
