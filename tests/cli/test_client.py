"""The client as an operator meets it: against a stack on the loopback, and against bad servers."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from duecourse.domain.url import read_url

from local.cli import main
from local.client.http import Api
from local.client.server import Server as ServerNamed
from local.command_errors import FailedError
from local.gateway import Gateway
from local.server import Server
from tests.cli.test_cli import DUECOURSE
from tests.receiver import Receiver
from tests.stack_client import StackClient, running_stack
from tests.unit.test_outgoing import Authority

TOKEN = "a-token-that-nobody-must-see"
EVIL = "evil \x1b[31mred\x1b]0;title\x07\u202e \x9b2J end"
DOWN = {"error": {"message": "connect ECONNREFUSED 10.0.0.5:5432", "code": "ECONNREFUSED"}}


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Client:
    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *arguments: str) -> Done:
        with pytest.raises(SystemExit) as left:
            main(arguments)
        said = self._capsys.readouterr()
        return Done(int(str(left.value.code)), said.out, said.err)


@pytest.fixture
def duecourse(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Client:
    for name in ("DUECOURSE_URL", "DUECOURSE_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TZ", "UTC")
    return Client(capsys)


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[StackClient, str]]:
    with running_stack() as client:
        server = Server(Gateway(client.stack), 0)
        thread = Thread(target=server.serve_forever, args=[0.01], daemon=True)
        thread.start()
        yield client, f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        server.server_close()
        thread.join(5)


@pytest.fixture
def stack(served: tuple[StackClient, str], monkeypatch: pytest.MonkeyPatch) -> StackClient:
    client, url = served
    monkeypatch.setenv("DUECOURSE_URL", url)
    assert client.call("POST", "/_local/reset").status == 200
    return client


@contextmanager
def a_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    with Receiver() as receiver:
        monkeypatch.setenv("DUECOURSE_URL", receiver.url(""))
        monkeypatch.setenv("DUECOURSE_TOKEN", TOKEN)
        yield receiver


def environment(**changes: str) -> dict[str, str]:
    """Of this process, but as plain as can be."""
    kept = {name: text for name, text in os.environ.items() if name != "NO_COLOR"}  # noqa: TID251
    return {**kept, **changes}


def an_error(done: Done, *, code: int = 1) -> str:
    """The one line that it ended with."""
    assert (done.code, done.out, done.err.count("\n")) == (code, "", 1), done
    assert done.err.startswith("duecourse: ")
    assert TOKEN not in done.err
    return done.err


# --- tasks --------------------------------------------------------------------------------------


def test_tasks_are_a_table_newest_first(duecourse: Client, stack: StackClient) -> None:
    first = stack.create(due_at="2026-03-01T12:05:00Z")
    second = stack.create(description="tea", due_at="2027-03-01T08:00:00Z")
    stack.call("POST", f"/tasks/{second['id']}/pause")

    heading, *rows = duecourse("tasks").out.splitlines()

    assert heading.split() == [*("ID", "TYPE", "STATUS", "DUE", "(UTC)", "RETRY", "DESCRIPTION")]
    shown = {row.split()[0]: " ".join(row.split()[1:]) for row in rows}
    assert shown == {
        second["short_id"]: "reminder pending (paused) 1 Mar 2027 in 376 d 0/3 tea",
        first["short_id"]: "reminder pending 1 Mar 12:05 in 12 d 0/3 stretch",
    }


def test_tasks_are_shown_on_the_clock_of_the_terminal(stack: StackClient) -> None:
    stack.create(due_at="2026-02-17T15:00:00Z")

    done = subprocess.run(  # noqa: S603 - our own command
        [str(DUECOURSE), "tasks"],
        env=environment(TZ="Asia/Tokyo"),
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )

    assert "DUE (JST)" in done.stdout
    assert "18 Feb 00:00" in done.stdout


def test_tasks_as_json_are_the_items_of_the_api(duecourse: Client, stack: StackClient) -> None:
    stack.create(**{"in": "5m"})

    assert duecourse("tasks", "--json").json == {"items": stack.items("/tasks")}


def test_tasks_are_filtered(duecourse: Client, stack: StackClient) -> None:
    stack.create(description="hers", sender_id="ada", **{"in": "5m"})
    his = stack.create(description="his", sender_id="bob", **{"in": "5m"})
    stack.call("POST", f"/tasks/{his['id']}/cancel")

    def found(*flags: str) -> list[str]:
        items = duecourse("tasks", "--json", *flags).json["items"]
        return [item["description"] for item in items]

    assert found("--sender", "ada") == ["hers"]
    assert found("--status", "cancelled") == ["his"]
    assert found("--type", "action") == []
    assert found("--channel", "console", "--limit", "1") == ["his"]


def test_all_tasks_come_page_by_page(
    duecourse: Client, stack: StackClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("local.commands.tasks._PAGE", 2)
    for _ in range(5):
        stack.create(**{"in": "5m"})
    there = stack.items("/tasks")

    items = duecourse("tasks", "--all", "--json").json["items"]
    three = duecourse("tasks", "--limit", "3", "--json").json["items"]

    assert len(there) == 5
    assert items == there
    assert three == there[:3]


def test_a_list_that_never_ends_is_not_followed(
    duecourse: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    with a_server(monkeypatch) as server:
        server.answer(200, b'{"items": [], "next_cursor": "again"}')

        assert "does not end" in an_error(duecourse("tasks", "--all"))


def test_what_somebody_else_wrote_cannot_touch_the_terminal(
    duecourse: Client, stack: StackClient
) -> None:
    task = stack.create(description=EVIL, **{"in": "5m"})
    shown = [
        duecourse("tasks").out,
        duecourse("task", task["id"], "--history").out,
        duecourse("tasks", "--json").out,
        duecourse("cancel", task["id"]).out,
    ]

    for text in shown:
        assert "end" in text
        assert text.replace("\n", "").isprintable()
        assert not set(text) & set("\x1b\x07\x9b\u202e")


# --- one task -----------------------------------------------------------------------------------


def failed_action(stack: StackClient) -> dict[str, Any]:
    payload = {"provider": "scripted", "script": [DOWN]}
    task = stack.create(type="action", description="fix it", payload=payload, **{"in": "1s"})
    stack.advance("2s")
    return stack.task(task["id"])


def test_a_task_is_told_in_full(duecourse: Client, stack: StackClient) -> None:
    task = failed_action(stack)

    out = duecourse("task", task["short_id"], "--runs", "--history", "--errors").out

    facts = dict(line.split(maxsplit=1) for line in out.split("\n\n")[0].splitlines())
    assert (facts["id"], facts["status"], facts["category"]) == (task["id"], "pending", "transient")
    assert re.fullmatch(r"Tue 17 Feb 2026 12:\d\d:\d\d UTC \(in (29|3\d) s\)", facts["due"])
    assert "task:retry_scheduled" in out
    assert "connection-codes" in out
    assert "paused:transient" in out


def test_a_task_as_json_is_that_of_the_api_with_the_lists_asked_for(
    duecourse: Client, stack: StackClient
) -> None:
    task = failed_action(stack)

    assert duecourse("task", task["id"], "--json").json == task
    both = duecourse("task", task["id"], "--json", "--runs", "--errors").json
    assert both == {
        **task,
        "runs": stack.items(f"/tasks/{task['id']}/runs"),
        "errors": stack.items(f"/tasks/{task['id']}/errors"),
    }


@pytest.mark.parametrize("task_id", ["0a1b2c3d", "../stats", "x?y", "\udcff", "a" * 3_000])
def test_an_unknown_task_is_one_line(duecourse: Client, stack: StackClient, task_id: str) -> None:
    assert stack.items("/tasks") == []
    assert "task" in an_error(duecourse("task", task_id))


# --- add ----------------------------------------------------------------------------------------


def test_add_prints_what_was_stored(duecourse: Client, stack: StackClient) -> None:
    done = duecourse("add", "stretch", "--in", "10m", "--channel", "console", "--to", "ada")

    [task] = stack.items("/tasks")
    assert done.out.startswith("Added:\ndescription  stretch\n")
    assert task["id"] in done.out
    assert re.search(r"^due +Tue 17 Feb 2026 12:1\d:\d\d UTC \(in 10 min\)$", done.out, re.M)
    assert (task["channel"], task["reply_target"]) == ("console", "ada")


def test_add_sends_every_flag(duecourse: Client, stack: StackClient, tmp_path: Path) -> None:
    payload = tmp_path / "payload.json"
    payload.write_text(json.dumps({"provider": "scripted", "script": [DOWN]}))
    when = ["--at", "2026-11-20T08:30", "--timezone", "Europe/Berlin", "--repeat", "weekdays"]
    what = ["--type", "action", "--payload", f"@{payload}", "--policy", "agent", "--verify"]
    whose = ["--subject", "s", "--sender", "ada", "--max-retries", "2", "--key", "once"]

    task = duecourse("add", "fix it", *when, *what, *whose, "--json").json

    assert (task["due_at"], task["timezone"]) == ("2026-11-20T07:30:00.000Z", "Europe/Berlin")
    assert (task["type"], task["policy"], task["verify"]) == ("action", "agent", True)
    assert (task["subject"], task["sender_id"], task["max_retries"]) == ("s", "ada", 2)
    assert (task["repeat"], task["payload"]["provider"]) == ("weekdays", "scripted")
    assert stack.items("/tasks") == [task]


def test_add_with_the_same_key_adds_once(duecourse: Client, stack: StackClient) -> None:
    for begins in ("Added:", "It was there already:"):
        done = duecourse("add", "x", "--at", "2026-11-20T08:30", "--key", "k")
        assert done.out.startswith(begins)

    assert len(stack.items("/tasks")) == 1
    assert "was used before" in an_error(duecourse("add", "y", "--in", "1h", "--key", "k"))


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["add", "x"], "--in, --at and --repeat"),
        (["add", "x", "--in", "banana"], "--in"),
        (["add", "x", "--at", "yesterday"], "--at"),
        (["add", "x", "--at", "2020-01-01T00:00"], "--at"),
        (["add", "x", "--in", "1m", "--at", "2027-01-01T00:00"], "--at"),
        (["add", "x", "--repeat", "often"], "--repeat"),
        (["add", "x", "--in", "1m", "--timezone", "Mars"], "--timezone"),
        (["add", "x", "--in", "1m", "--payload", "{"], "--payload"),
        (["add", "x", "--in", "1m", "--payload", "[]"], "--payload"),
        (["add", "x", "--in", "1m", "--payload", "@nowhere.json"], "nowhere.json"),
        (["add", "x", "--in", "1m", "--policy", "nobody"], "--policy"),
        (["add", "x", "--in", "1m", "--channel", "pigeon"], "--channel"),
        (["add", "x", "--in", "1m", "--verify"], "--verify"),
        (["add", "x", "--in", "1m", "--max-retries", "many"], "--max-retries"),
        (["add", "x", "--in", "1m", "--max-retries", "0"], "--max-retries"),
        (["add", "x", "--in", "1m", "--key", "two\nlines"], "--key"),
        (["add", "x", "--in", "1m", "--key", " "], "--key"),
        (["add", " ", "--in", "1m"], "DESCRIPTION"),
        (["add", "x" * 4_001, "--in", "1m"], "DESCRIPTION"),
        (["tasks", "--status", "odd"], "--status"),
        (["tasks", "--limit", "0"], "--limit"),
        (["tasks", "--limit", "5", "--all"], "--all"),
        (["stats", "--days", "31"], "--days"),
        (["task", " "], "ID"),
        (["cancel"], "ID"),
        (["completion", "cmd"], "shell"),
    ],
)
def test_bad_usage_names_the_flag(
    duecourse: Client, stack: StackClient, arguments: list[str], named: str
) -> None:
    assert named in an_error(duecourse(*arguments), code=2)
    assert stack.items("/tasks") == []


# --- cancel, retry, stats -----------------------------------------------------------------------


def test_each_of_several_is_told_by_itself(duecourse: Client, stack: StackClient) -> None:
    one, two = (stack.create(**{"in": "5m"}) for _ in range(2))

    done = duecourse("cancel", one["short_id"], "00000000", two["id"])

    assert done.code == 1
    assert done.out.splitlines() == [
        f"{task['short_id']} cancelled: stretch" for task in (one, two)
    ]
    assert done.err.count("\n") == 1
    assert "00000000" in done.err
    assert "(1 of 3 refused)" in done.err
    assert {task["status"] for task in stack.items("/tasks")} == {"cancelled"}


def test_a_retry_is_due_at_once(duecourse: Client, stack: StackClient) -> None:
    task = failed_action(stack)

    done = duecourse("retry", task["id"], "--json")

    assert (done.code, done.json["items"][0]["retry_count"]) == (0, 0)
    fresh = stack.create(**{"in": "5m"})
    assert "nothing failed" in an_error(duecourse("retry", fresh["short_id"]))


def test_without_a_server_the_rest_is_not_tried(
    duecourse: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    with a_server(monkeypatch) as server:
        server.answer(401, b"{}")

        an_error(duecourse("cancel", "00000001", "00000002"))
        assert len(server.requests) == 1


def test_stats_are_tables(duecourse: Client, stack: StackClient) -> None:
    assert "Nothing failed." in duecourse("stats").out
    failed_action(stack)
    stack.create(**{"in": "1s"})
    stack.advance("5s")

    out = duecourse("stats", "--days", "1").out

    assert out.startswith("Today, by UTC\n1 runs succeeded; late by p50 ")
    for title in ("Errors by category", "Recovered", "Common patterns", "Providers"):
        assert title in out
    assert duecourse("stats", "--json").json == stack.call("GET", "/stats").body


# --- servers that are not there, or not well ----------------------------------------------------


def test_a_refused_connection_asks_whether_the_stack_is_up(
    duecourse: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Receiver() as gone:
        monkeypatch.setenv("DUECOURSE_URL", gone.url(""))

    assert "is the stack up? (make up)" in an_error(duecourse("tasks"))


def test_a_wrong_token_is_told_where_tokens_come_from(
    duecourse: Client, stack: StackClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert stack.items("/tasks") == []
    monkeypatch.setenv("DUECOURSE_TOKEN", TOKEN)

    said = an_error(duecourse("tasks"))
    assert "DUECOURSE_TOKEN" in said
    assert "make up" in said


@pytest.mark.parametrize(
    "url",
    [
        *("ftp://x", "127.0.0.1:8000", "http://", "http://u:p@127.0.0.1", "https://x/?a=b"),
        *("http://example.com", "http://10.0.0.1", "https://x\n", "file:///etc/passwd"),
    ],
)
def test_a_url_that_cannot_be_asked_is_bad_usage(
    duecourse: Client, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    monkeypatch.setenv("DUECOURSE_URL", url)

    assert "DUECOURSE_URL" in an_error(duecourse("tasks"), code=2)


@pytest.mark.parametrize("token", ["two words", "line\nbreak", "\u00fc"])
def test_a_token_that_cannot_be_sent_is_bad_usage(
    duecourse: Client, monkeypatch: pytest.MonkeyPatch, token: str
) -> None:
    monkeypatch.setenv("DUECOURSE_TOKEN", token)

    assert token not in an_error(duecourse("tasks"), code=2)


def test_a_redirect_is_not_followed(duecourse: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    with a_server(monkeypatch) as server, Receiver() as elsewhere:
        server.redirect(elsewhere.url("/tasks"))

        assert "not followed" in an_error(duecourse("tasks"))
        assert elsewhere.connections == 0


def test_a_stage_in_the_url_stays_in_front(
    duecourse: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    with a_server(monkeypatch) as server:
        monkeypatch.setenv("DUECOURSE_URL", server.url("/prod/"))
        server.answer(200, b'{"items": []}')

        assert duecourse("tasks").code == 0
        assert server.requests[0].path == "/prod/tasks?limit=50"
        assert server.requests[0].headers["authorization"] == f"Bearer {TOKEN}"


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (200, b"<html>", "not JSON"),
        (200, b"[]", "not JSON"),
        (200, b'{"items": 5}', "no list"),
        (200, b'{"items": [5]}', "no list"),
        (200, b"[" * 100_000, "not JSON"),
        (502, b"<html>Bad Gateway", "502"),
        (500, b'{"detail": "something went wrong here"}', "something went wrong here (500)"),
        (403, b'{"message": "Forbidden"}', "Forbidden (403)"),
        (404, b'{"detail": "no \\u001b[31mroute"}', "no \\x1b[31mroute"),
        (422, b'{"detail": "x", "errors": "y"}', "x"),
    ],
)
def test_an_answer_that_is_not_as_it_should_be_is_one_line(
    duecourse: Client, monkeypatch: pytest.MonkeyPatch, status: int, body: bytes, said: str
) -> None:
    with a_server(monkeypatch) as server:
        server.answer(status, body)

        assert said in an_error(duecourse("tasks"))


@pytest.mark.parametrize("odd", [b'{"items": [{}]}', b'{"items": [{"due_at": 5, "id": [1]}]}'])
def test_a_task_with_holes_is_shown_with_holes(
    duecourse: Client, monkeypatch: pytest.MonkeyPatch, odd: bytes
) -> None:
    with a_server(monkeypatch) as server:
        server.answer(200, odd)

        for command in (["tasks"], ["task", "00000000", "--runs", "--history", "--errors"]):
            assert duecourse(*command).code == 0
        assert duecourse("stats").code == 0


@pytest.mark.parametrize("manner", ["drop", "cut_short"])
def test_a_server_that_hangs_up_is_one_line(
    duecourse: Client, monkeypatch: pytest.MonkeyPatch, manner: str
) -> None:
    with a_server(monkeypatch) as server:
        getattr(server, manner)()

        an_error(duecourse("tasks"))


@pytest.mark.parametrize("manner", ["hold", "drip_headers", "drip_body"])
def test_a_server_that_never_comes_to_its_end_is_left(manner: str) -> None:
    with Receiver() as server:
        getattr(server, manner)()
        named = ServerNamed(read_url(server.url("")), TOKEN)

        with pytest.raises(FailedError, match=r"did not answer within 0\.2 seconds"):
            Api(named, timeout=timedelta(seconds=0.2)).get("/tasks")


def test_a_certificate_that_cannot_be_trusted_ends_it(tmp_path: Path) -> None:
    with Authority(tmp_path).receiver("localhost") as server:
        named = ServerNamed(read_url(server.url("", host="localhost")), TOKEN)

        with pytest.raises(FailedError, match="no trusted TLS connection"):
            Api(named).get("/tasks")
        assert server.requests == []


def test_the_token_is_in_no_text_of_the_server() -> None:
    assert TOKEN not in repr(ServerNamed(read_url("https://x"), TOKEN))


# --- the terminal, the shell --------------------------------------------------------------------


def on_a_terminal(url: str, *arguments: str, width: int = 80, **env: str) -> str:
    ours, theirs = pty.openpty()
    with subprocess.Popen(  # noqa: S603 - our own command
        [str(DUECOURSE), *arguments],
        stdout=theirs,
        stderr=theirs,
        env=environment(DUECOURSE_URL=url, **{"TERM": "xterm", "COLUMNS": str(width), **env}),
    ) as process:
        os.close(theirs)
        said = b""
        try:
            while chunk := os.read(ours, 65_536):
                said += chunk
        except OSError:  # how Linux says that the other side has closed
            pass
        os.close(ours)
        assert process.wait(10) == 0
    return said.decode().replace("\r\n", "\n")


def test_colours_are_for_terminals_only(
    served: tuple[StackClient, str], stack: StackClient
) -> None:
    task = stack.create(**{"in": "5m"})
    stack.call("POST", f"/tasks/{task['id']}/cancel")

    assert "\x1b[2mcancelled\x1b[0m" in on_a_terminal(served[1], "tasks")
    assert "\x1b" not in on_a_terminal(served[1], "tasks", NO_COLOR="1")
    assert "\x1b" not in on_a_terminal(served[1], "tasks", TERM="dumb")


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_a_table_fits_the_terminal(
    served: tuple[StackClient, str], stack: StackClient, width: int
) -> None:
    stack.create(description="日本語のとても長い説明" * 10, **{"in": "5m"})
    stack.create(description="short", **{"in": "5m"})

    lines = on_a_terminal(served[1], "tasks", width=width, NO_COLOR="1").splitlines()

    assert lines
    for line in lines:
        wide = sum(2 if ord(char) > 0x2E80 else 1 for char in line)
        assert wide <= width, line
    assert "…" in "".join(lines)
    assert any("short" in line for line in lines)


def test_a_reader_that_goes_away_ends_it_quietly(
    served: tuple[StackClient, str], stack: StackClient
) -> None:
    for _ in range(3):
        stack.create(description="x" * 4_000, **{"in": "5m"})
    command = f"'{DUECOURSE}' tasks --json | head -c 1; echo ${{PIPESTATUS[0]}}"

    done = subprocess.run(  # noqa: S603 - our own command
        ["bash", "-c", command],  # noqa: S607 - whichever bash is here
        env=environment(DUECOURSE_URL=served[1]),
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )

    assert (done.stdout, done.stderr) == ("{0\n", "")


def test_ctrl_c_ends_it_quietly(monkeypatch: pytest.MonkeyPatch) -> None:
    with a_server(monkeypatch) as server:
        server.hold()
        with subprocess.Popen(  # noqa: S603 - our own command
            [str(DUECOURSE), "tasks"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            while not server.requests:
                assert process.poll() is None
            process.send_signal(signal.SIGINT)
            assert process.communicate(timeout=10) == (b"", b"")

    assert process.returncode == 130


def test_a_command_of_the_client_loads_nothing_of_the_stack() -> None:
    """It must not wait for a second until it asks."""
    heavy = ["boto3", "botocore", "moto", "samtranslator", "pynamodb", "time_machine", "shtab"]
    code = (
        "import sys\n"
        "from local.cli import main\n"
        "try:\n    main(['tasks'])\nexcept SystemExit:\n    pass\n"
        f"sys.exit(', '.join(name for name in {heavy} if name in sys.modules) or None)"
    )
    with Receiver() as server:
        server.answer(200, b'{"items": [{"id": "x"}]}')
        done = subprocess.run(  # noqa: S603 - our own interpreter
            [sys.executable, "-c", code],
            env=environment(DUECOURSE_URL=server.url("")),
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )

    assert (done.returncode, done.stderr) == (0, "")
    assert "ID" in done.stdout


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
