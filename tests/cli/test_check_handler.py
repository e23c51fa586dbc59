"""`duecourse check-handler`, mostly run as a separate process."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from local.runtime.template import ROOT
from tests.cli.command_client import CommandClient, check_error

COMMAND = Path(sys.executable).with_name("duecourse")
ONLY_MUTATE = ["--only", "handler.mutate"]
HANDLERS_CODE = """
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


def run_check_handler(*arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 - our own command
        [str(COMMAND), "check-handler", *arguments],
        cwd=ROOT,
        env=env,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture
def handlers_env(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "team_of_liars.py").write_text(HANDLERS_CODE)
    return {"HANDLERS_MODULE": "team_of_liars", "PYTHONPATH": str(tmp_path)}


def test_a_builtin_idempotent_handler_passes() -> None:
    result = run_check_handler("reminder", *ONLY_MUTATE)

    assert result.returncode == 0, result.stderr
    assert "after handler.mutate" in result.stdout.partition("\n\n")[0]
    assert "Effect repeated, which the handler declares safe: after" in result.stdout
    assert "running at least 2 crashes" in result.stderr


def test_json_output_has_the_verdict_and_every_round() -> None:
    result = run_check_handler("reminder", *ONLY_MUTATE, "--json")

    report = json.loads(result.stdout)
    assert (report["type"], report["is_sound"], report["idempotent"]) == ("reminder", True, True)
    assert report["doubles"][0] == "after handler.mutate"
    assert report["rounds"][0] == {
        "crash": None,
        "status": "delivered",
        "effects": 1,
        "runs": [{"status": "committed", "phase": "committed", "mutation": "applied"}],
        "error": None,
    }


def test_a_handler_that_could_repeat_its_effect_fails(handlers_env: dict[str, str]) -> None:
    result = run_check_handler("lies", *ONLY_MUTATE, **handlers_env)

    assert result.returncode == 1
    assert "EFFECT REPEATED: after handler.mutate; " in result.stdout
    assert result.stderr.splitlines()[-1] == ("duecourse: lies is not crash-safe")


def test_a_handler_that_fails_without_a_crash_is_reported(handlers_env: dict[str, str]) -> None:
    result = run_check_handler("fails", **handlers_env)

    assert (result.returncode, result.stdout) == (1, "")
    assert "the bulb is broken" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], "type"),
        (["nobody"], "unknown type nobody; known types: action,"),
        (["reminder", "--payload", "{"], "--payload is not JSON"),
        (["reminder", "--payload", "[]"], "--payload must be a JSON object"),
        (["action", "--payload", "{}"], "--payload: payload: provider: must be one of"),
    ],
)
def test_bad_usage_is_one_line_that_names_the_argument(
    duecourse: CommandClient, arguments: list[str], expected: str
) -> None:
    assert expected in check_error(duecourse("check-handler", *arguments), code=2)


def test_a_missing_handlers_module_is_named() -> None:
    result = run_check_handler("reminder", HANDLERS_MODULE="nowhere_to_be_found")

    assert (result.returncode, result.stdout) == (1, "")
    assert "HANDLERS_MODULE: there is no module nowhere_to_be_found" in result.stderr


def test_a_handler_with_an_old_name_is_refused_with_the_new_one(tmp_path: Path) -> None:
    code = HANDLERS_CODE.replace(
        "class Lies(Handler):", "class Lies(Handler):\n    let_go = None\n"
    )
    (tmp_path / "team_of_old.py").write_text(code)
    env = {"HANDLERS_MODULE": "team_of_old", "PYTHONPATH": str(tmp_path)}

    result = run_check_handler("fails", **env)

    assert (result.returncode, result.stdout) == (1, "")
    assert "class Lies uses let_go: rename it to release" in result.stderr
    assert result.stderr.count("\n") == 1
