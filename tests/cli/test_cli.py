"""The `duecourse` command, mostly run as a separate process."""

from __future__ import annotations

import json
import logging
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.command_client import CommandClient, check_error, environment, sigint_handled_by

ROOT = Path(__file__).resolve().parents[2]
COMMAND = Path(sys.executable).with_name("duecourse")
OWN_SECRETS = {
    "DUECOURSE_TOKEN": "own-token",
    "TELEGRAM_SECRET_TOKEN": "own-telegram",
    "SLACK_SIGNING_SECRET": "own-slack",
}


def run_command(*arguments: str, stdin: str = "", **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 - our own command
        [str(COMMAND), *arguments],
        cwd=ROOT,
        env=environment(**env),
        input=stdin,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("function", ["ScannerFunction", "scanner"])
def test_invoke_prints_the_reply_as_json_and_nothing_else(function: str) -> None:
    result = run_command("invoke", function, "-e", "events/scanner_tick.json")

    assert (result.returncode, json.loads(result.stdout)) == (
        0,
        {"dispatched": 0, "is_complete": True},
    )


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], "COMMAND"),
        (["fly"], "fly"),
        (["up", "--clock", "sundial"], "--clock"),
        (["up", "--port", "many"], "--port"),
        (["up", "--port", "0000009999999"], "--port"),
        (["up", "--allow-host", "https://abc.tunnel.example"], "--allow-host"),
        (["up", "--allow-host", "*"], "--allow-host"),
        (["invoke", "scanner"], "--event"),
        (["invoke", "scanner", "-e", "nowhere.json"], "nowhere.json"),
        (["invoke", "scanner", "-e", "README.md"], "README.md"),
        (["invoke", "scanner", "-e", sys.executable], sys.executable),
        (["invoke", "nobody", "-e", "events/scanner_tick.json"], "nobody"),
        (["explain", "boom"], "--policy"),
        (["explain", "--policy", "nobody", "boom"], "--policy nobody"),
        (["explain", "--policy", "agent", "--attempt", "-1", "boom"], "--attempt"),
        (["explain", "--policy", "agent", "--attempt", "x", "boom"], "--attempt"),
        (["explain", "--policy", "agent", "--status", "42", "boom"], "--status"),
        (["explain", "--policy", "agent", "--retry-after", "-1", "boom"], "--retry-after"),
        (["explain", "--policy", "agent"], "MESSAGE"),
        (["classify"], "--policy"),
        (["classify", "--policy", "nobody"], "--policy nobody"),
    ],
)
def test_bad_usage_is_one_line_that_names_the_argument(
    duecourse: CommandClient, arguments: list[str], expected: str
) -> None:
    assert expected in check_error(duecourse(*arguments), code=2)


def test_invoke_leaves_the_logs_of_its_process_enabled(duecourse: CommandClient) -> None:
    duecourse("invoke", "nobody", "-e", "events/scanner_tick.json")

    assert logging.root.manager.disable == logging.NOTSET


def test_bad_usage_is_one_line_of_the_installed_command() -> None:
    result = run_command("fly")

    assert (result.returncode, result.stdout, result.stderr.count("\n")) == (2, "", 1)


def test_explain_prints_the_decision_as_json() -> None:
    result = run_command(
        "explain", "--policy", "agent", 'file.ts(45,12): error TS2304: Cannot find name "x"'
    )
    output = json.loads(result.stdout)

    assert set(output) == {
        *("policy", "category", "kind", "clears_by", "likely", "confidence", "pattern", "location"),
        *("suggested_fix", "counts"),
        *("action", "status", "delay_seconds", "retry_count", "max_retries", "guidance"),
    }
    assert (result.returncode, output["category"], output["delay_seconds"]) == (
        0,
        "code_error",
        120,
    )
    assert output["location"] == {"file": "file.ts", "line": 45}


def test_explain_reads_every_flag() -> None:
    flags = ["--code", "x", "--status", "429", "--type", "y", "--retry-after", "90"]
    result = run_command("explain", "--policy", "enrichment", "--attempt", "1", *flags, "")
    output = json.loads(result.stdout)

    assert (output["category"], output["delay_seconds"]) == ("rate_limit", 90)
    assert output["retry_count"] == 2


def test_classify_writes_one_result_per_line() -> None:
    errors = [{"id": "a", "message": "connect ECONNREFUSED"}, {"id": "b", "message": "hm"}]
    result = run_command("classify", "--policy", "agent", stdin="\n".join(map(json.dumps, errors)))
    output = [json.loads(line) for line in result.stdout.splitlines()]

    assert [(result_line["id"], result_line["category"]) for result_line in output] == [
        ("a", "transient"),
        ("b", "unknown"),
    ]
    assert set(output[0]) == {
        *("id", "category", "kind", "clears_by", "likely", "confidence", "pattern", "location")
    }


def test_classify_names_an_unreadable_line() -> None:
    result = run_command(
        "classify", "--policy", "agent", stdin='{"id": "a", "message": "x"}\nnonsense\n'
    )

    assert (result.returncode, result.stderr.count("\n")) == (2, 1)
    assert "line 2" in result.stderr


def test_a_function_that_fails_is_one_line_and_exit_code_one(tmp_path: Path) -> None:
    event = tmp_path / "event.json"
    event.write_text("{}")

    result = run_command("invoke", "worker", "-e", str(event))

    assert (result.returncode, result.stdout, result.stderr.count("\n")) == (1, "", 1)


def test_help_lists_the_commands() -> None:
    assert {"up", "invoke"} <= set(
        re.findall(r"^    (\w+)", run_command("--help").stdout, re.MULTILINE)
    )


@contextmanager
def start_up() -> Iterator[subprocess.Popen[str]]:
    command = [str(COMMAND), "up", "--port", "0", "--allow-host", "abc.tunnel.example"]
    with subprocess.Popen(  # noqa: S603
        command, stdout=subprocess.PIPE, text=True, env=environment(**OWN_SECRETS)
    ) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.fixture
def up_process() -> Iterator[subprocess.Popen[str]]:
    with start_up() as process:
        yield process


def read_url(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    match = re.search(r"http://127\.0\.0\.1:\d+", process.stdout.readline())
    assert match
    return match[0]


@pytest.mark.parametrize(
    ("inherited", "stop_signal"),
    [
        (signal.SIG_DFL, signal.SIGINT),
        (signal.SIG_IGN, signal.SIGINT),
        (signal.SIG_IGN, signal.SIGTERM),
    ],
)
def test_up_answers_and_stops_cleanly(
    inherited: signal.Handlers, stop_signal: signal.Signals
) -> None:
    """Also when it inherits an ignored SIGINT, as in the background of a script."""
    with sigint_handled_by(inherited), start_up() as up_process:
        with urllib.request.urlopen(f"{read_url(up_process)}/health", timeout=10) as reply:  # noqa: S310
            assert reply.status == 200

        up_process.send_signal(stop_signal)

        assert (
            up_process.wait(timeout=10),
            up_process.stdout and up_process.stdout.read()[-10:],
        ) == (0, "Stopping.\n")


@pytest.mark.parametrize("name", OWN_SECRETS)
def test_up_with_a_tunnel_refuses_a_default_secret_in_one_line(name: str) -> None:
    result = run_command("up", "--allow-host", "x.example", **{**OWN_SECRETS, name: "local"})

    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == (
        f"duecourse: --allow-host: set {name} to secrets of your own; the defaults are public. "
        "An empty verification secret closes its webhook\n"
    )


@pytest.mark.parametrize(("host", "status"), [("abc.tunnel.example", 401), ("x.example", 421)])
def test_up_accepts_webhooks_only_from_an_allowed_tunnel_host(
    up_process: subprocess.Popen[str], host: str, status: int
) -> None:
    url = f"{read_url(up_process)}/webhooks/telegram"
    request = urllib.request.Request(url, b"{}", {"Host": host})  # noqa: S310 - loopback
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request, timeout=10)  # noqa: S310 - loopback
    with refused.value:
        assert refused.value.code == status


def test_up_names_an_invalid_entry_of_chat_access(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHAT_ACCESS", "telegram:5,@ada")

    result = run_command("up", "--port", "0")

    [line] = result.stderr.splitlines()
    assert result.returncode == 1
    assert line.startswith("duecourse: settings: CHAT_ACCESS must list entries such as ")
    assert line.endswith("and '@ada' is not one")


def test_a_port_in_use_is_one_line_that_names_the_port(up_process: subprocess.Popen[str]) -> None:
    port = read_url(up_process).rpartition(":")[2]

    result = run_command("up", "--port", port)

    expected = f"duecourse: Port {port} is in use. Try --port 8123, or make up PORT=8123\n"
    assert (result.returncode, result.stderr) == (1, expected)
