"""Fingerprints: one for each kind of error, whatever its variable parts are."""

from __future__ import annotations

import pytest
from duecourse.domain.failures.classifier.fingerprint import FINGERPRINT_PATTERN, fingerprint_of
from duecourse.domain.failures.failure import Failure


def fingerprint(message: str, **evidence: object) -> str:
    return fingerprint_of(Failure.create(message, **evidence))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("connect ECONNREFUSED 127.0.0.1:5432", "connect ECONNREFUSED 10.20.0.15:6379"),
        ("Task timed out after 3.02 seconds", "Task timed out after 30 seconds"),
        ("gave up after 1m30s", "gave up after 45s"),
        ("Cannot find module 'left-pad'", "Cannot find module './lib/tide'"),
        ('no column "tide" in table', 'no column "a longer name" in table'),
        ("open /home/ada/app/conf.json: denied", "open /srv/conf.json: denied"),
        (r"open C:\Users\ada\conf.json: denied", r"open D:\conf.json: denied"),
        ("GET https://api.one.test/v1/x?key=3 failed", "GET https://two.example/y failed"),
        ("mail to ada@one.test bounced", "mail to bob.b@two.example bounced"),
        (
            "job 0a1b2c3d-0000-4000-8000-000000000000 failed",
            "job 7f1c2d34-5b6a-4c8d-9e0f-a1b2c3d4e5f6 failed",
        ),
        ("segfault at 0x7f3a", "segfault at 0xdeadbeefcafe"),
        ("no object 9f8e7d6c5b4a", "no object 1a2b3c4d5e6f7a8b"),
        ("failed, request id: req_011CSHoEeqs", "failed, request id: req_9Zq"),
        ("quota resets at 2026-02-17T12:00:00.000Z", "quota resets at 2027-11-01T00:00:00Z"),
        ("failed on Feb 3, 2026 at 10:12:44", "failed on December 17, 2026 at 01:00:00"),
        ("1 test failed", "12 tests failed"),
        ("BOOM:   it   broke", "boom: it broke"),
        ("worker-9 died, error", "worker-10 died, error"),
        ("src/a.ts(45,12): error TS2304: no foo", "lib/b/a.ts(404,1): error TS2304: no foo"),
        ("Main.cs(12): error: no foo", "Main.cs(404): error: no foo"),
        ("bad values [1, 2, 3]", "bad values [7, 8]"),
        ("KeyError('tide_id')", "KeyError('quay')"),
        ("KeyError: 'tide_id'", "KeyError: 'quay'"),
        ("RuntimeError('disk 7 is full')", "RuntimeError('disk 12 is full')"),
        (
            "RuntimeError(\"no room in '/var/a.log'\")",
            "RuntimeError(\"no room in '/srv/other.txt'\")",
        ),
        ("Tool said 'timed out after 3 s'", "Tool said 'timed out after 10 minutes'"),
        ('{"err": "no quay 7"}', '{"err": "no quay 8"}'),
        ('{"error": "no", "user": "Ada Byron"}', '{"error": "no", "user": "Bo Diddley"}'),
        ('"no quay 7"', '"no quay 12"'),
        ("error code 1015 for ray 7a1b9c2d3e", "error code 1015 for ray 8b2c0d3e4f"),
        ("SQLSTATE[40001] in row 7", "SQLSTATE[40001] in row 12"),
        ("error after 1045 rows", "error after 2002 rows"),
        ("cannot list /home/ada/logs/", "cannot list /srv/logs/"),
        (
            '{"error": {"type": "overloaded", "request": "abc"}}',
            '{"error": {"type": "overloaded", "request": "xyz"}}',
        ),
        (
            "2026-02-17 10:00:00 INFO begins\nValueError: tide is high",
            "2026-02-18 11:30:00 INFO begins anew\nall is well so far\nValueError: tide is high",
        ),
    ],
)
def test_variable_parts_do_not_change_the_fingerprint(first: str, second: str) -> None:
    assert fingerprint(first) == fingerprint(second)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("ValueError: bad tide", "KeyError: bad tide"),
        ("connect ECONNREFUSED 127.0.0.1", "connect ETIMEDOUT 127.0.0.1"),
        ("a.ts(1,2): error TS2304: oh", "a.ts(1,2): error TS2339: oh"),
        ("Request failed with status code 500", "Request failed with status code 503"),
        ("the process exited with code 137", "the process exited with code 1"),
        ("Http2Error: it broke", "OAuth2Error: it broke"),
        ('{"error": {"message": "no quota"}}', '{"error": {"message": "no such model"}}'),
        ('{"type": "overloaded_error"}', '{"type": "not_found_error"}'),
        ("the tide is high", "the quay is wet"),
        ("build failed\nno space left", "build failed\ncannot find the quay"),
        ("RuntimeError('invalid token')", "RuntimeError('disk full')"),
        ('job "a" died: OSError("disk full",)', 'job "a" died: OSError("bad token",)'),
        ('{"err": "bad key"}', '{"err": "rate limited"}'),
        ('{"cause": "timeout"}', '{"cause": "refused"}'),
        ("SQLSTATE[28000] failed", "SQLSTATE[40001] failed"),
        ("SQLSTATE: 28000, failed", "SQLSTATE: 40001, failed"),
        ('Error: "rate limit exceeded"', 'Error: "Cannot find module"'),
        ("Error: 'timeout'", "Error: 'refused'"),
        ("“timeout”", "“refused”"),
        ("Tool said 'command timed out'", "Tool said 'cannot find name foo'"),
        ("thread 'a' panicked at 'disk full'", "thread 'a' panicked at 'bad token'"),
        ("error code 1020", "error code 1015"),
        ('{"error": {"code": 1020}}', '{"error": {"code": 1015}}'),
        ("Error 1045: no", "Error 2002: no"),
        ("E1234 oh", "E1235 oh"),
        ("error: " + "word " * 60 + "timed out", "error: " + "word " * 60 + "syntax"),
        ("timeout/", "refused/"),
    ],
)
def test_errors_of_different_kinds_have_different_fingerprints(first: str, second: str) -> None:
    assert fingerprint(first) != fingerprint(second)


@pytest.mark.parametrize(
    "evidence", [{"type": "TimeoutError"}, {"code": "E1"}, {"code": "E2"}, {"status": 503}]
)
def test_structured_evidence_changes_the_fingerprint(evidence: dict[str, object]) -> None:
    assert fingerprint("it broke", **evidence) != fingerprint("it broke")


def test_a_fingerprint_is_sixteen_hexadecimal_digits() -> None:
    assert FINGERPRINT_PATTERN.fullmatch(fingerprint(""))
    assert FINGERPRINT_PATTERN.fullmatch(fingerprint("boom"))


def test_the_truncation_point_does_not_change_the_fingerprint() -> None:
    def log_with(number: int) -> str:
        earlier_lines = "\n".join(f"step {number} of the build went well" for _ in range(60))
        return f"{earlier_lines}\nValueError: tide {number} is too high"

    assert len(log_with(7)) > 1_000
    assert fingerprint(log_with(7)) == fingerprint(log_with(123_456))


def test_a_truncated_line_does_not_change_the_fingerprint() -> None:
    def log_with(number: int) -> str:
        header = f"{number} boats\n" + "all is well\n" * 37
        return f"{header}cannot moor as the tide is too high {'more ' * 200}\nthe mooring failed"

    assert fingerprint(log_with(7)) == fingerprint(log_with(123_456))


def test_one_very_long_line_is_fingerprinted_by_its_beginning() -> None:
    def message_with(number: int) -> str:
        return f"cannot moor at quay {number}: " + "the tide is high and the wind is strong " * 200

    assert fingerprint(message_with(7)) == fingerprint(message_with(123_456))
