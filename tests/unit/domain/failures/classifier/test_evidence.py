"""The evidence in error texts: lines, exceptions, codes, statuses and exit codes."""

from __future__ import annotations

import pytest
from duecourse.domain.failures.classifier.error_codes import find_codes
from duecourse.domain.failures.classifier.evidence import collect_evidence
from duecourse.domain.failures.classifier.exception_lines import (
    exception_type,
    find_exception_lines,
)
from duecourse.domain.failures.classifier.log_lines import LineKind, parse_lines
from duecourse.domain.failures.failure import Failure


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("\x1b[31mTypeError: x\x1b[0m", "TypeError: x"),
        ("[31mTypeError: x[39m", "TypeError: x"),
        ("[1] [0] TypeError: x", "TypeError: x"),
        ("2026-01-01T10:00:00.123Z ERROR: TypeError: x", "TypeError: x"),
        ("[2026-01-01 10:00:00,123] TypeError: x", "TypeError: x"),
        ("Nov 16 04:19:14 web-1 tide[77]: TypeError: x", "TypeError: x"),
        ("npm ERR! code ETIMEDOUT", "code ETIMEDOUT"),
        ("122 error code ETARGET", "code ETARGET"),
        ("##[error]TypeError: x", "TypeError: x"),
        ("#12 3.214 TypeError: x", "TypeError: x"),
        ("web_1  | TypeError: x", "TypeError: x"),
        ("│ TypeError: x          │", "TypeError: x"),
        ("E1116 04:19:14.123456   77 tide.go:12] TypeError: x", "TypeError: x"),
        ("::error file=a.ts,line=3::TypeError: x", "TypeError: x"),
        ("17/01/01 23:03:32 ERROR TideScheduler: lost x", "lost x"),
        ("5/29/2020 4:31:39 PM - TypeError: x", "TypeError: x"),
        ("[16/Nov/2026:05:28:38 +0000] TypeError: x", "TypeError: x"),
        ("ERROR TypeError: x", "ERROR TypeError: x"),  # not a logging component
        ('time="2026-01-01T10:00:00Z" level=error msg="TypeError: x', "TypeError: x"),
        ("←[31mTypeError: x←[39m", "TypeError: x"),
    ],
)
def test_log_prefixes_are_removed(line: str, text: str) -> None:
    assert parse_lines(line)[0].text == text


@pytest.mark.parametrize(
    ("text", "expected_kinds"),
    [
        ('  File "a.py", line 1, in f\n    timed(out)\nTimeoutError', "frame code prose"),
        ("    at f (/srv/a.js:1:2)\n    at async g (node:x:1:2)", "frame frame"),
        ("\tat a.B.c(B.java:1)\n\t... 2 more", "frame frame"),
        ("main.main()\n\t/srv/a.go:3 +0x1\ngoroutine 1 [running]:", "frame frame frame"),
        ("  12 | connection refused\n     | ^^^^", "code code"),
        ("a.c:1:2: error: x\n  timeout();\n  ^~~~", "prose code code"),
        ("+ curl http://timeout", "code"),
        ("Caused by:\n    0: 400 Bad Request", "prose prose"),
        ("#0 /srv/a.php(3): f()\n#1 {main}", "frame frame"),
        ("from a.rb:1:in `x'", "frame"),
        ("", "blank"),
    ],
)
def test_frames_and_source_code_are_not_prose(text: str, expected_kinds: str) -> None:
    assert [line.kind for line in parse_lines(text)] == [
        LineKind(kind) for kind in expected_kinds.split()
    ]


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("json.decoder.JSONDecodeError: Expecting value", "JSONDecodeError"),
        ("TimeoutError", "TimeoutError"),
        ('Exception in thread "main" java.net.ConnectException: refused', "ConnectException"),
        ("Caused by: java.io.IOException: x", "IOException"),
        ("PHP Fatal error:  Uncaught App\\Tide\\TideException: x", "TideException"),
        ("AssertionError [ERR_ASSERTION]: x", "AssertionError"),
        ("a.rb:3:in `f': undefined method (NoMethodError)", "NoMethodError"),
        ("** (ArgumentError) x", "ArgumentError"),
        ("[cause]: SocketError: other side closed", "SocketError"),
        ("cannot find symbol class TestNetworkError", None),
        ("Note: all is well", None),
    ],
)
def test_the_type_is_read_from_an_exception_line(line: str, name: str | None) -> None:
    assert exception_type(line) == name


def test_the_last_exception_is_found_and_earlier_log_lines_are_not_error_prose() -> None:
    text = (
        "Read timed out. Retrying 1/3\n"
        "Traceback (most recent call last):\n"
        '  File "a.py", line 1, in f\n'
        "    g()\n"
        "ReadTimeout: slow\n"
        "\n"
        "During handling of the above exception, another exception occurred:\n"
        "\n"
        "Traceback (most recent call last):\n"
        '  File "a.py", line 2, in f\n'
        "    h()\n"
        "AttributeError: no such thing\n"
    )
    lines = find_exception_lines(parse_lines(text))
    assert lines.exception == ("AttributeError: no such thing",)
    assert "ReadTimeout: slow" in lines.error_prose
    assert "Read timed out. Retrying 1/3" not in lines.error_prose
    assert "Read timed out. Retrying 1/3" in lines.all_prose


def test_the_root_cause_is_the_exception_of_a_java_chain() -> None:
    text = (
        "a.B: x\n\tat a.B.c(B.java:1)\nCaused by: java.net.ConnectException: refused\n\t... 1 more"
    )
    assert find_exception_lines(parse_lines(text)).exception == (
        "Caused by: java.net.ConnectException: refused",
    )


def test_an_error_line_of_a_tool_is_not_an_exception() -> None:
    assert (
        find_exception_lines(parse_lines("Error: Process completed with exit code 1.")).exception
        == ()
    )


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("code: 'ECONNRESET',", "econnreset"),
        ("read ECONNRESET", "econnreset"),
        ("{'error': {'type': 'insufficient_quota'}}", "insufficientquota"),
        ('{\\"code\\":\\"context_length_exceeded\\"}', "contextlengthexceeded"),
        ('"type": String("GoUsageLimitError")', "gousagelimiterror"),
        ("rpc error: code = Unavailable desc = x", "unavailable"),
        ("StatusCode.DEADLINE_EXCEEDED", "deadlineexceeded"),
        ("An error occurred (ThrottlingException) when calling X", "throttlingexception"),
        ("error[E0308]: mismatched", "e0308"),
        ("SQLSTATE[40001]: x", "40001"),
    ],
)
def test_codes_are_found_in_the_text(text: str, code: str) -> None:
    assert code in find_codes(text).codes


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("Error code: 429 - {}", 429),
        ("HTTP Error 404: Not Found", 404),
        ("HTTP/1.1 503", 503),
        ("returned error: 503", 503),
        ("got 502 Bad Gateway", 502),
        ("Unauthorized (401) from", 401),
        ('"statusCode": 503', 503),
        ("InternalServerError: 529 {", 529),
        ("failed with status code 500", 500),
    ],
)
def test_statuses_are_found_in_context(text: str, status: int) -> None:
    assert find_codes(text).statuses == {status}


@pytest.mark.parametrize(
    "text",
    ["a branch timeout-429", "line 429", "429 tests", "took 503 ms", "10.0.0.404", "a.js:429:5"],
)
def test_other_numbers_are_not_statuses(text: str) -> None:
    assert not find_codes(text).statuses


@pytest.mark.parametrize(
    ("text", "exit_code"),
    [
        ("exit code 137", 137),
        ("exited with code 124", 124),
        ("exit status 2", 2),
        ("make: *** [Makefile:3: x] Error 127", 127),
        ("died with <Signals.SIGKILL: 9>.", -9),
    ],
)
def test_exit_codes_are_found_in_the_text(text: str, exit_code: int) -> None:
    assert find_codes(text).exit_codes == {exit_code}


def test_the_status_field_precedes_the_text() -> None:
    evidence = collect_evidence(Failure.create("HTTP 500", status=429)).tiers[0]
    assert evidence.statuses == {429}


def test_a_url_is_not_evidence() -> None:
    evidence = collect_evidence(
        Failure.create("see https://a.example/rate-limit exceeded/ECONNRESET")
    )
    assert "econnreset" not in evidence.tiers[0].names


def test_the_traceback_of_a_failure_is_parsed() -> None:
    failure = Failure.create(
        "KeyError: 'a'", traceback='  File "a.py", line 7, in f\n    x\nKeyError'
    )
    assert [(match.file, match.line) for match in collect_evidence(failure).source_matches] == [
        ("a.py", 7)
    ]


def test_an_empty_message_has_one_tier() -> None:
    assert len(collect_evidence(Failure.create("")).tiers) == 1


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("[WinError 10061] 連線被拒絕", "econnrefused"),
        ("[Errno 28] Nessuno spazio", "enospc"),
        ("tide.rs: (os error 2)", "enoent"),
        ("errno: -111,", "econnrefused"),
        ("socket.gaierror: [Errno -3] x", "enotfound"),
        ("OSError: (10060, 'WSAETIMEDOUT')", "etimedout"),
        ("the quay said (MEMORY_LIMIT_EXCEEDED)", "memorylimitexceeded"),
        ("context_window_full: 9 > 8", "contextwindowfull"),
    ],
)
def test_codes_are_found_by_number_and_by_form(text: str, code: str) -> None:
    assert code in find_codes(text).codes


def test_a_setting_is_not_a_code() -> None:
    assert find_codes("set $MAX_WAIT, MAX_TIDE=3 or ${MAX_BOATS}").words == ""


def test_unlisted_codes_are_split_into_words() -> None:
    assert find_codes('{"code":"tide_too_high"} QUAY_FULL.').words == "quay full | tide too high"


@pytest.mark.parametrize(
    ("message", "form"),
    [
        ("Expected: 3\nActual: 4", "expectedandactual"),
        ("чего\n  ожидалось: 3\n  получено: 4", "expectedandactual"),
        ("- the tide rises *** FAILED ***", "failedbetweenstars"),
        ("Error: x\n    at f (/srv/a.js:1:2)", "stackofframes"),
        ("tide.nim(1, 2) Error: x", "placeinthesource"),
        ("error: x\n  at /etc/a.nix:2:1:\n  2| y", "placeinthesource"),
    ],
)
def test_the_form_of_an_error_is_evidence(message: str, form: str) -> None:
    assert form in collect_evidence(Failure.create(message)).tiers[-1].names


def test_a_sentence_has_no_form() -> None:
    evidence = collect_evidence(Failure.create("we expected a boat and got none")).tiers[-1]
    assert not evidence.names


def test_a_warning_before_an_error_is_not_error_prose() -> None:
    lines = parse_lines("Warning: no file\nit does not exist\nError: bad type\n")
    assert find_exception_lines(lines).error_prose == ("Error: bad type",)
    assert len(find_exception_lines(lines).all_prose) == 3


def test_warnings_without_an_error_are_error_prose() -> None:
    lines = parse_lines("Warning: no file\nit does not exist")
    assert len(find_exception_lines(lines).error_prose) == 2
