"""Secrets in commands, files, headers and URLs, tokens of known services, and texts without any."""

from __future__ import annotations

import time

import pytest
from duecourse.domain.text.redaction import redact

from tests.support.harmless_messages import HARMLESS_COMMANDS, HARMLESS_TEXTS
from tests.support.secret_file_shapes import FILES
from tests.support.secret_shapes import COMMANDS, HEADERS_AND_URLS
from tests.support.token_shapes import TOKENS

LIMIT = 16_000
MEGABYTE = 1_000_000
NAMED_SHAPES = (*COMMANDS, *FILES, *HEADERS_AND_URLS)
HARMLESS = (*HARMLESS_COMMANDS, *HARMLESS_TEXTS)
TOKEN_TEXTS = tuple(
    (shape.replace("{}", secret), secret)
    for shape, characters, length in TOKENS
    for secret in [(characters[::-7] * length)[:length]]
)


@pytest.mark.parametrize("shape", NAMED_SHAPES)
def test_a_secret_without_a_format_is_redacted(shape: str) -> None:
    assert "hunter" not in redact(shape.replace("{}", "hunter22"), LIMIT)


@pytest.mark.parametrize(("text", "secret"), TOKEN_TEXTS)
def test_a_token_of_a_known_service_is_redacted(text: str, secret: str) -> None:
    redacted = redact(f"rejected {text} by the server", LIMIT)
    assert secret not in redacted
    assert redacted.startswith("rejected ")
    assert redacted.endswith(" by the server")


@pytest.mark.parametrize("message", HARMLESS)
def test_a_message_without_a_secret_is_kept_word_for_word(message: str) -> None:
    assert redact(message, LIMIT) == message


@pytest.mark.parametrize("shape", NAMED_SHAPES)
def test_the_lines_around_a_secret_are_kept(shape: str) -> None:
    text = shape.replace("{}", "hunter22")
    redacted = redact(f"Error: before\n{text}\nError: behind", LIMIT)
    assert redacted.startswith("Error: before\n")
    assert redacted.endswith("\nError: behind")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("tool --token abc123 --force", "tool --token [redacted] --force"),
        ("curl -u ada:pw https://x.test/", "curl -u ada:[redacted] https://x.test/"),
        ("mysqldump -u root -ppw shop", "mysqldump -u root -p[redacted] shop"),
        ("sshpass -p pw ssh -p 22 x.test", "sshpass -p [redacted] ssh -p 22 x.test"),
        (
            "docker login -p pw x.test && docker run -p 80:80 app",
            "docker login -p [redacted] x.test && docker run -p 80:80 app",
        ),
        (
            "mysql -ppw | ssh -p22 x.test\nmkdir -p a/b",
            "mysql -p[redacted] | ssh -p22 x.test\nmkdir -p a/b",
        ),
        ("['tool', '--token', 'a b', '-v']", "['tool', '--token', '[redacted]', '-v']"),
        (
            "machine x.test login ada password pw\nmachine y.test",
            "machine x.test login ada password [redacted]\nmachine y.test",
        ),
    ],
)
def test_only_the_secret_of_a_command_is_redacted(text: str, expected: str) -> None:
    assert redact(text, LIMIT) == expected


HOSTILE_FRAGMENTS = (
    *(" -", " --a", " --token", " --user a", "mysql ", "curl -u", "curl '", "\"'", "echo a|"),
    *("stdin <<<", "config set ", "a:1234:b:c:", "1|", "00aB", "f" * 31 + "-", "machine a "),
    *("password ", "identified by ", "user a ", "A" * 20 + "-", "%22", "\\u0022", "pwd={"),
    *("sqlplus a/", "docker login ", "key value", "key: |\n", "token:\n", *NAMED_SHAPES, *HARMLESS),
    *(text for text, _ in TOKEN_TEXTS),
)


def test_a_megabyte_of_any_shape_is_redacted_quickly() -> None:
    """The CPU time of this thread does not depend on the load of the machine."""
    seconds_by_fragment = {fragment: measure_seconds(fragment) for fragment in HOSTILE_FRAGMENTS}
    assert {
        fragment: seconds for fragment, seconds in seconds_by_fragment.items() if seconds >= 0.1
    } == {}


def measure_seconds(fragment: str) -> float:
    text = fragment * (MEGABYTE // len(fragment))
    redact(fragment, LIMIT)  # compiles the patterns
    started = time.thread_time()
    redact(text, LIMIT)
    return time.thread_time() - started
