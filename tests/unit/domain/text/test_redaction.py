"""Redaction removes secrets and keeps messages that only mention them."""

from __future__ import annotations

import time

import pytest
from duecourse.domain.text.redaction import MAX_REDACTED_LENGTH, redact, truncate_middle

LIMIT = 16_000
SECRETS = [
    # Recognised by name
    "token=hunter22",
    "Token: hunter22",
    "api_key=hunter22",
    "x-api-key: hunter22",
    "API key: hunter22",
    "Invalid API key provided: hunter22.",
    '{"password": "hunter22"}',
    '{"password": "correct hunter22 horse"}',
    '{"password": "correct \\" hunter22"}',
    "{'secret': 'hunter22'}",
    "{'api_key': 'hunter22'}",
    r"{\"api_key\": \"hunter22\"}",
    r"{\"api_key\": \"correct hunter22\"}",
    r"{\\\"api_key\\\": \\\"correct hunter22\\\"}",
    "&quot;password&quot;:&quot;correct hunter22&quot;",
    "<SecretAccessKey>hunter22</SecretAccessKey>",
    '"password" => "hunter22"',
    "https://x.test/?access_token=hunter22&a=1",
    "https://x.test/?key=hunter22&a=1",
    "api_key%3Dhunter22",
    "client_secret=hunter22;",
    "refresh_token: hunter22",
    "password=hunter22 and token=hunter22",
    "PASSWORD = hunter22",
    "passwd: hunter22",
    "passphrase: hunter22",
    "Server=db;Uid=ada;Pwd=hunter22;",
    "DB_PASS=hunter22",
    "AccountName=a;AccountKey=hunter22==;EndpointSuffix=x",
    "SharedAccessKeyName=a;SharedAccessKey=hunter22=",
    "access_key=hunter22",
    "private_key: hunter22",
    "SECRET_KEY_BASE=hunter22",
    "aws_secret_access_key=hunter22",
    "SecretAccessKey: hunter22",
    "aws_session_token = hunter22",
    "https://x.test/?sv=1&sig=hunter22%3D",
    "https://x.test/?X-Amz-Signature=hunter22",
    "Authorization: Bearer hunter22",
    "Authorization: Basic hunter22",
    "Authorization: Custom hunter22",
    "Authorization: hunter22",
    'Authorization: Digest username="a", response="hunter22"',
    "Authorization: AWS4-HMAC-SHA256 Credential=a/b, SignedHeaders=a;b, Signature=hunter22",
    "{'Authorization': 'Bearer hunter22'}",
    "Bearer hunter22",
    "Bearer " + "x" * 300 + "hunter22",
    "Cookie: a=b; c=hunter22",
    "Set-Cookie: a=b; Path=/; c=hunter22",
    r"{\"Cookie\": \"a=b; c=hunter22\"}",
    # Recognised by position
    "https://ada:hunter22@x.test/",
    "https://hunter22@x.test/",
    "https://ada:pass/hunter22@x.test/",
    "postgres://ada:p@hunter22@x.test/db",
    "https://api.telegram.org/bot12345:hunter22/sendMessage",
    "https://hooks.slack.com/services/T0/B0/hunter22",
    "https://discord.com/api/webhooks/123/hunter22",
    # Recognised by shape
    "sk-proj-hunter22",
    "sk-ant-api03-hunter22",
    "sk-live-hunter22",
    "sk-a1b2c3hunter22",
    "sk-proj-******hunter22",
    "sk_live_hunter22",
    "rk_live_hunter22",
    "ghp_hunter22",
    "github_pat_hunter22",
    "glpat-hunter22hunter22",
    "AIzahunter22hunter22",
    "ya29.hunter22",
    "xoxb-1-hunter22",
    "xoxp-1-hunter22",
    "xapp-1-hunter22",
    "hf_hunter22hunter22",
    "npm_hunter22hunter22",
    "123456:AAhunter22",
    "MTIzNDU2Nzg5MDEyMzQ1Njc4.GabcDE.hunter22hunter22hunter22hunter22",
    "eyJhbGciOiJI.hunter22.hunter22",
    "-----BEGIN RSA PRIVATE KEY-----\nhunter22\n-----END RSA PRIVATE KEY-----",
    r"-----BEGIN PRIVATE KEY-----\nhunter22\n-----END PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----\n" + "hunter22" * 8,
    "-----BEGIN PRIVATE KEY-----\n" + "abcdefgh" * 8 + "\nhunter22",
    "abcdefgh\nhunter22\n-----END PRIVATE KEY-----",
]
HARMLESS_MESSAGES = [
    "the token expired",
    "token expired",
    "password is wrong",
    "no secret here",
    "3 tokens: ok",
    "max_tokens: 4096",
    '{"promptTokenCount": 1893}',
    "Unexpected token < in JSON",
    "Unexpected token '<', \"<!DOCTYPE \"... is not valid JSON",
    "unexpected token: foo",
    "SyntaxError: Unexpected token: punc (})",
    "syntax error near unexpected token `('",
    "Limit 30000 tokens per minute",
    "maximum context length is 8192 tokens",
    "NoCredentialsError: Unable to locate credentials",
    "TokenExpiredError: jwt expired",
    "JsonWebTokenError: invalid signature",
    "tokenizer: not found",
    "Invalid API key",
    "Incorrect API key provided",
    "Missing credentials. Please pass an `apiKey`",
    'password authentication failed for user "bob"',
    "password: This field is required",
    '{"password": ["This field is required."]}',
    "Argument of type '{ password: string; }' is not assignable",
    "password=None",
    "token: undefined",
    'secret "foo" not found',
    "arn:aws:secretsmanager:us-east-1:123:secret:foo-Ab",
    "secretName: foo",
    "signature does not match",
    "error TS1005: ',' expected",
    "test_auth.py::test_password::test_token FAILED",
    "KeyError: 'password'",
    "PWD=/home/ada/app",
    "Bearer token is missing",
    'WWW-Authenticate: Bearer realm="x"',
    "Authorization: required",
    "may require authorization: server message: insufficient_scope",
    "Cookie: not set",
    "secretary: Bob",
    "GET http://localhost:3000/node_modules/@vue/x failed",
    "git@github.com: Permission denied (publickey)",
    "task-scheduler-service-12 failed",
    "npm_config_registry is not set",
    "cannot import hf_hub_download",
]


@pytest.mark.parametrize("text", SECRETS)
def test_a_secret_is_redacted(text: str) -> None:
    assert "hunter22" not in redact(text, LIMIT)


def test_other_lines_are_kept() -> None:
    redacted = {text: redact(f"Error: before\n{text}\nError: behind", LIMIT) for text in SECRETS}
    damaged = {
        text: result
        for text, result in redacted.items()
        if not (result.startswith("Error:") and result.endswith("\nError: behind"))
    }
    assert damaged == {}


@pytest.mark.parametrize("text", HARMLESS_MESSAGES)
def test_a_message_that_only_mentions_secrets_is_kept(text: str) -> None:
    assert redact(text, LIMIT) == text


@pytest.mark.parametrize("value", ["x", "hun", "a" * 5_000])
def test_secrets_of_any_length_are_redacted(value: str) -> None:
    assert redact(f"password = {value}", LIMIT) == "password = [redacted]"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("GET /?token=hunter22&page=3 failed", "GET /?token=[redacted]&page=3 failed"),
        (
            "Incorrect API key provided: sk-proj-a1b2. See",
            "Incorrect API key provided: [redacted]. See",
        ),
        ('{"password": "a b", "user": "ada"}', '{"password": "[redacted]", "user": "ada"}'),
        (r"{\"token\": \"a b\", \"n\": 1}", r"{\"token\": \"[redacted]\", \"n\": 1}"),
        ("https://ada:hunter22@x.test/", "https://[redacted]@x.test/"),
        ("Cookie: a=b; c=d\r\nHost: x", "Cookie: [redacted]\r\nHost: x"),
        ("<Token>abc</Token><Code>x</Code>", "<Token>[redacted]</Token><Code>x</Code>"),
        ("(token=abc)", "(token=[redacted])"),
    ],
)
def test_the_text_around_a_secret_is_kept(text: str, expected: str) -> None:
    assert redact(text, LIMIT) == expected


def test_redacting_twice_changes_nothing() -> None:
    redacted = [redact(text, LIMIT) for text in SECRETS]
    assert [redact(text, LIMIT) for text in redacted] == redacted


def test_a_lone_surrogate_is_replaced() -> None:
    assert redact("bad \ud800 text", LIMIT).encode() == b"bad ? text"


def test_a_letter_that_grows_in_lower_case_shifts_nothing() -> None:
    assert redact("İİİ PASSWORD=hunter22 İ", LIMIT) == "İİİ PASSWORD=[redacted] İ"


# Length


def test_a_short_text_is_not_truncated() -> None:
    assert truncate_middle("as it is", 8) == "as it is"


def test_a_truncation_is_marked() -> None:
    assert " […] " in truncate_middle("x " * 100, 50)


def test_a_truncated_text_uses_the_whole_limit() -> None:
    truncated = truncate_middle("a" * 50 + " bbbb cccc dddd eeee ffff", 40)
    assert (len(truncated), truncated[-15:]) == (40, " dddd eeee ffff")


@pytest.mark.parametrize("padding", range(LIMIT - 20, LIMIT))
def test_a_truncation_leaves_no_part_of_a_secret(padding: int) -> None:
    assert "h" not in redact("x" * (padding - 6) + " token=hunter22hunter22", 1_000)


@pytest.mark.parametrize("secret", ["token=hunter22", "https://ada:hunter22@x.test/"])
@pytest.mark.parametrize("limit", [1_000, LIMIT])
def test_a_truncation_at_any_position_leaves_no_part_of_a_secret(secret: str, limit: int) -> None:
    """Redaction shortens a text, so the first truncation can show after the second."""
    secret_value = "token=" + "a" * 15_900 + " "

    def redacted_with_offset(length: int) -> str:
        padding = "-" * (MAX_REDACTED_LENGTH // 2 - len(secret_value) - length)
        return redact(f"{secret_value}{padding} {secret} " + "z " * 20_000, limit)

    assert [length for length in range(40) if "hunte" in redacted_with_offset(length)] == []


def test_text_without_blanks_leaves_no_part_of_a_secret() -> None:
    """Compact JSON has no blanks, and redaction shortens its end."""

    def redacted_with_offset(length: int) -> str:
        secret_value = "a" * (MAX_REDACTED_LENGTH // 2 - length)
        text = (
            f'{"x" * MAX_REDACTED_LENGTH}","password":"hunter22hunter22","token":"{secret_value}"}}'
        )
        return redact(text, LIMIT)

    assert [length for length in range(60) if "r22" in redacted_with_offset(length)] == []


HOSTILE_FRAGMENTS = [
    *("x", "x ", "\n", '"', "'", "\\", '\\"', "-", "M", "1", "key", "token", "token=hunter22 "),
    *("bearer ", "authorization: ", "authorization: a ", "cookie:\n", "://", "://a", "://a:b/"),
    *("api_key", "password=", 'password="\\', "password&quot;", "secret>", "token: [[", "sig="),
    *("eyJ", "eyJ.", "sk-", "sk-a", "ghp_", "12345:AA", "-----BEGIN", "-----END "),
    *("-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "\0", "İ", *SECRETS),
]


def test_a_megabyte_is_redacted_quickly() -> None:
    """The CPU time of this thread does not depend on the load of the machine."""
    seconds_by_fragment = {
        fragment: measure_seconds(fragment * (10**6 // len(fragment)))
        for fragment in HOSTILE_FRAGMENTS
    }
    assert {
        fragment: seconds for fragment, seconds in seconds_by_fragment.items() if seconds >= 0.1
    } == {}


def measure_seconds(text: str) -> float:
    started = time.thread_time()
    redact(text, LIMIT)
    return time.thread_time() - started
