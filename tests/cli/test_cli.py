"""The `duecourse` command as a person meets it: in a process of its own."""

from __future__ import annotations

import json
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

from tests.cli.client import ctrl_c_as

ROOT = Path(__file__).resolve().parents[2]
DUECOURSE = Path(sys.executable).with_name("duecourse")


def run(*arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
    command = [str(DUECOURSE), *arguments]
    return subprocess.run(  # noqa: S603 - our own command
        command, cwd=ROOT, input=given, capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.parametrize("function", ["ScannerFunction", "scanner"])
def test_invoke_prints_the_reply_as_json_and_nothing_else(function: str) -> None:
    done = run("invoke", function, "-e", "events/scanner_tick.json")

    assert (done.returncode, json.loads(done.stdout)) == (0, {"dispatched": 0, "is_complete": True})


@pytest.mark.parametrize(
    ("arguments", "named"),
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
def test_bad_usage_is_one_line_that_names_what_is_wrong(arguments: list[str], named: str) -> None:
    done = run(*arguments)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert named in done.stderr


def test_explain_says_what_would_happen_as_json() -> None:
    done = run("explain", "--policy", "agent", 'file.ts(45,12): error TS2304: Cannot find name "x"')
    told = json.loads(done.stdout)

    assert set(told) == {
        *("policy", "category", "confidence", "pattern", "location", "suggested_fix", "counts"),
        *("action", "status", "delay_seconds", "retry_count", "max_retries", "guidance"),
    }
    assert (done.returncode, told["category"], told["delay_seconds"]) == (0, "code_error", 120)
    assert told["location"] == {"file": "file.ts", "line": 45}


def test_explain_reads_every_flag() -> None:
    flags = ["--code", "x", "--status", "429", "--type", "y", "--retry-after", "90"]
    done = run("explain", "--policy", "enrichment", "--attempt", "1", *flags, "")
    told = json.loads(done.stdout)

    assert (told["category"], told["delay_seconds"]) == ("rate_limit", 90)
    assert told["retry_count"] == 2


def test_classify_answers_line_by_line() -> None:
    asked = [{"id": "a", "message": "connect ECONNREFUSED"}, {"id": "b", "message": "hm"}]
    done = run("classify", "--policy", "agent", given="\n".join(map(json.dumps, asked)))
    told = [json.loads(line) for line in done.stdout.splitlines()]

    assert [(one["id"], one["category"]) for one in told] == [("a", "transient"), ("b", "unknown")]
    assert set(told[0]) == {"id", "category", "confidence", "pattern", "location"}


def test_classify_names_the_line_it_cannot_read() -> None:
    done = run("classify", "--policy", "agent", given='{"id": "a", "message": "x"}\nnonsense\n')

    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "line 2" in done.stderr


def test_a_function_that_fails_is_one_line_and_exit_code_one(tmp_path: Path) -> None:
    event = tmp_path / "event.json"
    event.write_text("{}")

    done = run("invoke", "worker", "-e", str(event))

    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)


def test_help_lists_the_commands() -> None:
    assert {"up", "invoke"} <= set(re.findall(r"^    (\w+)", run("--help").stdout, re.MULTILINE))


@contextmanager
def running_up() -> Iterator[subprocess.Popen[str]]:
    command = [str(DUECOURSE), "up", "--port", "0", "--allow-host", "abc.tunnel.example"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603
        try:
            yield process
        finally:
            process.kill()


@pytest.fixture
def up() -> Iterator[subprocess.Popen[str]]:
    with running_up() as process:
        yield process


def url_of(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    found = re.search(r"http://127\.0\.0\.1:\d+", process.stdout.readline())
    assert found
    return found[0]


@pytest.mark.parametrize(
    ("inherited", "stop"),
    [
        (signal.SIG_DFL, signal.SIGINT),
        (signal.SIG_IGN, signal.SIGINT),
        (signal.SIG_IGN, signal.SIGTERM),
    ],
)
def test_up_answers_and_stops_cleanly(inherited: signal.Handlers, stop: signal.Signals) -> None:
    """Also where it was started with Ctrl-C ignored, as in the background of a script."""
    with ctrl_c_as(inherited), running_up() as up:
        with urllib.request.urlopen(f"{url_of(up)}/health", timeout=10) as reply:  # noqa: S310
            assert reply.status == 200

        up.send_signal(stop)

        assert (up.wait(timeout=10), up.stdout and up.stdout.read()[-10:]) == (0, "Stopping.\n")


@pytest.mark.parametrize(("host", "status"), [("abc.tunnel.example", 401), ("x.example", 421)])
def test_a_tunnel_reaches_the_webhooks_where_up_allows_its_host(
    up: subprocess.Popen[str], host: str, status: int
) -> None:
    url = f"{url_of(up)}/webhooks/telegram"
    request = urllib.request.Request(url, b"{}", {"Host": host})  # noqa: S310 - loopback
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request, timeout=10)  # noqa: S310 - loopback
    with refused.value:
        assert refused.value.code == status


def test_a_port_in_use_is_said_in_one_line(up: subprocess.Popen[str]) -> None:
    port = url_of(up).rpartition(":")[2]

    done = run("up", "--port", port)

    expected = f"duecourse: Port {port} is in use. Try --port 8123\n"
    assert (done.returncode, done.stderr) == (1, expected)
