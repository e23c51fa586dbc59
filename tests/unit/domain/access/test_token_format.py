"""The shape of an API token: recognisable, and a typing error is noticed without a lookup."""

from __future__ import annotations

import re

import pytest
from duecourse.domain.access.scope import Scope
from duecourse.domain.access.token_format import ENTROPY_BYTES, format_token, is_mistyped
from duecourse.domain.access.tokens import ApiToken, find_token, hash_secret
from duecourse.domain.text.redaction import redact

from tests.support.builders.moments import NOW

TOKEN = format_token(bytes(range(ENTROPY_BYTES)))
OLD_TOKEN = "dc_9mXo2JcHkQ0n7fP4s8tVwYzA1bD3eG5iL6rUxN-_qRs"


def test_a_token_never_changes_its_format() -> None:
    """Secret scanners know it, and hashes of such tokens are stored."""
    assert TOKEN == "dc_003aUlTJC7tjlCTQj2uNU3MFagCXG9LRKRcwGkBIDlf4HdYYb"
    assert re.fullmatch(r"dc_[0-9A-Za-z]{49}", TOKEN)


@pytest.mark.parametrize("entropy", [bytes(32), bytes([255]) * 32], ids=["least", "most"])
def test_every_token_has_the_same_length_and_a_right_checksum(entropy: bytes) -> None:
    token = format_token(entropy)
    assert len(token) == len(TOKEN)
    assert not is_mistyped(token)


@pytest.mark.parametrize("length", [0, 31, 33])
def test_a_token_needs_all_its_random_bytes(length: int) -> None:
    with pytest.raises(ValueError, match="32 random bytes"):
        format_token(bytes(length))


def test_any_changed_character_is_noticed() -> None:
    for n in range(3, len(TOKEN)):
        other = "x" if TOKEN[n] != "x" else "y"
        assert is_mistyped(TOKEN[:n] + other + TOKEN[n + 1 :]), n


@pytest.mark.parametrize("token", ["local", "", "dc_", TOKEN[:-1], TOKEN + "x", OLD_TOKEN])
def test_another_shape_has_no_checksum(token: str) -> None:
    assert not is_mistyped(token)


def a_token(secret: str) -> ApiToken:
    return ApiToken("ci", Scope.READ, hash_secret(secret))


@pytest.mark.parametrize("secret", [TOKEN, OLD_TOKEN, "local"])
def test_tokens_with_and_without_prefix_are_found(secret: str) -> None:
    assert find_token([a_token(secret)], secret, now=NOW) == a_token(secret)


def test_a_token_with_a_wrong_checksum_is_not_found_even_if_its_hash_is_stored() -> None:
    wrong = TOKEN[:-1] + ("x" if TOKEN[-1] != "x" else "y")
    assert find_token([a_token(wrong)], wrong, now=NOW) is None


@pytest.mark.parametrize("text", ["{}", "got {}.", "https://x.example/#{}", '"{}"', "a{}b"])
def test_a_token_is_redacted_wherever_it_stands(text: str) -> None:
    assert TOKEN not in redact(text.format(TOKEN), 1_000)
    assert TOKEN[10:40] not in redact(text.format(TOKEN[:40]), 1_000)


@pytest.mark.parametrize("text", ["dc_voltage is 12", "table dc_orders", "abcdc_1"])
def test_names_that_begin_alike_are_kept(text: str) -> None:
    assert redact(text, 1_000) == text
