"""Tokens: read strictly, found by their hash, and never told."""

from __future__ import annotations

import hmac
import json
import traceback
from datetime import timedelta
from typing import Any
from unittest.mock import patch

import pytest
from duecourse.domain.access.bearer import BROWSER_ROUTES, auth_challenge, extract_secret
from duecourse.domain.access.scope import Scope
from duecourse.domain.access.tokens import (
    MAX_SECRET_LENGTH,
    NAME_LIMIT,
    ApiToken,
    InvalidTokensError,
    find_token,
    hash_secret,
    parse_tokens,
)

from tests.support.builders.moments import MILLISECOND, NOW

READER = ApiToken("reader", Scope.READ, hash_secret("r-secret"))
WRITER = ApiToken("writer", Scope.WRITE, hash_secret("w-secret"))
ROOT = ApiToken("root", Scope.ADMIN, hash_secret("a-secret"))
ALL = (READER, WRITER, ROOT)
CANARY = "qz-7Hd03kLmNo99pQr"
ELSEWHERE = "ANY /{proxy+}"


def kept(*entries: Any) -> str:
    return json.dumps({"tokens": list(entries)})


def entry(**changes: Any) -> dict[str, Any]:
    return {"name": "ci", "scope": "write", "sha256": hash_secret("secret")} | changes


# --- scopes -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scope", "covered"),
    [
        (Scope.READ, [Scope.READ]),
        (Scope.WRITE, [Scope.READ, Scope.WRITE]),
        (Scope.ADMIN, [Scope.READ, Scope.WRITE, Scope.ADMIN]),
    ],
)
def test_a_scope_covers_those_before_it(scope: Scope, covered: list[Scope]) -> None:
    assert [needed for needed in Scope if scope.covers(needed)] == covered


# --- what the secret holds --------------------------------------------------------------------


def test_tokens_are_read_as_they_were_written() -> None:
    expiring = ApiToken("soon", Scope.READ, hash_secret("s"), NOW)
    written = kept(*(token.to_json() for token in (*ALL, expiring)))
    assert parse_tokens(written) == (*ALL, expiring)


def test_a_new_stack_has_no_tokens() -> None:
    assert parse_tokens('{"tokens": []}') == ()


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (None, "not JSON"),
        ("", "not JSON"),
        (CANARY, "not JSON"),
        (f'{{"tokens": ["{CANARY}"', "not JSON"),
        (f'{{"tokens": [], "tokens": [], "{CANARY}": 1}}', "not JSON"),
        ("[" * 50_000, "not JSON"),
        ("[]", "and nothing else"),
        ("null", "and nothing else"),
        ("{}", "and nothing else"),
        (json.dumps({"tokens": [], CANARY: 1}), "and nothing else"),
        (json.dumps({"tokens": {CANARY: 1}}), "and nothing else"),
        (kept(CANARY), "tokens[0] must have"),
        (kept({}), "tokens[0] must have"),
        (kept(entry(**{CANARY: 1})), "tokens[0] must have"),
        (kept(entry(), {"name": CANARY, "scope": "read"}), "tokens[1] must have"),
        (kept(entry(name=f"{CANARY} x")), "tokens[0].name"),
        (kept(entry(name="")), "tokens[0].name"),
        (kept(entry(name="ci\n")), "tokens[0].name"),
        (kept(entry(name="é")), "tokens[0].name"),
        (kept(entry(name="x" * (NAME_LIMIT + 1))), "tokens[0].name"),
        (kept(entry(name=7)), "tokens[0].name"),
        (kept(entry(scope=CANARY)), "tokens[0].scope"),
        (kept(entry(scope="ADMIN")), "tokens[0].scope"),
        (kept(entry(scope=["read"])), "tokens[0].scope"),
        (kept(entry(scope=None)), "tokens[0].scope"),
        (kept(entry(sha256=CANARY)), "tokens[0].sha256"),
        (kept(entry(sha256="A" * 64)), "tokens[0].sha256"),
        (kept(entry(sha256=None)), "tokens[0].sha256"),
        (kept(entry(expires_at=CANARY)), "tokens[0].expires_at"),
        (kept(entry(expires_at=None)), "tokens[0].expires_at"),
        (kept(entry(expires_at=7)), "tokens[0].expires_at"),
        (kept(entry(expires_at="0001-01-01T00:00:00+10:00")), "tokens[0].expires_at"),
        (kept(entry(), entry(sha256=hash_secret("other"))), "the same name"),
        (kept(entry(), entry(name="cd")), "the same hash"),
    ],
)
def test_what_is_not_sure_closes_the_door_and_is_not_told(content: Any, problem: str) -> None:
    with pytest.raises(InvalidTokensError) as caught:
        parse_tokens(content)
    assert problem in str(caught.value)
    assert CANARY not in "".join(traceback.format_exception(caught.value))


# --- whose secret it is -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("secret", "token"), [("r-secret", READER), ("w-secret", WRITER), ("a-secret", ROOT)]
)
def test_a_token_is_found_by_its_secret(secret: str, token: ApiToken) -> None:
    assert find_token(ALL, secret, now=NOW) == token


NOT_ONES = ["", "x", "r-secret ", "R-SECRET", READER.sha256, "reader", "\udcff", "пароль", "\0"]


@pytest.mark.parametrize("secret", [*NOT_ONES, "x" * 1_000_000])
def test_anything_else_is_nobodys(secret: str) -> None:
    assert find_token(ALL, secret, now=NOW) is None


def test_the_longest_secret_is_taken_and_a_longer_one_is_not_even_hashed() -> None:
    longest = "x" * MAX_SECRET_LENGTH
    tokens = [ApiToken("long", Scope.READ, hash_secret(longest))]
    assert find_token(tokens, longest, now=NOW) == tokens[0]
    with patch("duecourse.domain.access.tokens.hash_secret", side_effect=AssertionError):
        assert find_token(tokens, longest + "x", now=NOW) is None


def test_without_tokens_nobody_is_known() -> None:
    assert find_token((), "r-secret", now=NOW) is None


@pytest.mark.parametrize("secret", ["r-secret", "w-secret", "a-secret", "nobody's"])
def test_every_token_is_compared_in_constant_time_whoever_asks(secret: str) -> None:
    with patch("hmac.compare_digest", wraps=hmac.compare_digest) as compare:
        find_token(ALL, secret, now=NOW)
    assert [call.args[0] for call in compare.call_args_list] == [token.sha256 for token in ALL]


@pytest.mark.parametrize(
    ("passed", "is_known"),
    [(-MILLISECOND, True), (timedelta(0), False), (MILLISECOND, False)],
)
def test_a_token_is_refused_from_its_end_on(passed: timedelta, is_known: bool) -> None:
    token = ApiToken("soon", Scope.READ, hash_secret("s"), NOW)
    assert (find_token([token], "s", now=NOW + passed) is token) is is_known


# --- the Authorization header -----------------------------------------------------------------


@pytest.mark.parametrize("header", ["Bearer abc", "bearer abc", "BEARER   abc ", "bEaReR\u0020abc"])
def test_a_bearer_token_is_taken_everywhere(header: str) -> None:
    for route in (ELSEWHERE, *BROWSER_ROUTES):
        assert extract_secret(header, route=route) == "abc"


@pytest.mark.parametrize(
    "header",
    ["", " ", "abc", "Bearer", "Bearer ", "Bearer\tabc", "Token abc", "Digest abc", " Bearer abc"],
)
def test_another_header_shows_nothing(header: str) -> None:
    for route in (ELSEWHERE, *BROWSER_ROUTES):
        assert extract_secret(header, route=route) is None


@pytest.mark.parametrize("route", sorted(BROWSER_ROUTES))
def test_a_browser_may_show_it_as_a_password(route: str) -> None:
    assert extract_secret("Basic YWRhOmFiYzpk", route=route) == "abc:d"
    assert auth_challenge(route) == 'Basic realm="duecourse"'


@pytest.mark.parametrize("route", [ELSEWHERE, "POST /docs", "GET /docs/", "", "GET /tasks"])
def test_nowhere_else_a_password_is_taken(route: str) -> None:
    assert extract_secret("Basic YWRhOmFiYw==", route=route) is None
    assert auth_challenge(route) == "Bearer"


@pytest.mark.parametrize("encoded", ["", "%%%", "YWRh", "YWRhOg==", "/////w==", "é", "YWRhOmFiYw"])
def test_what_is_no_password_shows_nothing(encoded: str) -> None:
    assert extract_secret(f"Basic {encoded}", route="GET /docs") is None
