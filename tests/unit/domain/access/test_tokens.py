"""API tokens: strict parsing, lookup by hash, and secrets that are never logged."""

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
OTHER_ROUTE = "ANY /{proxy+}"


def tokens_json(*entries: Any) -> str:
    return json.dumps({"tokens": list(entries)})


def token_entry(**changes: Any) -> dict[str, Any]:
    return {"name": "ci", "scope": "write", "sha256": hash_secret("secret")} | changes


# --- scopes -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scope", "expected"),
    [
        (Scope.READ, [Scope.READ]),
        (Scope.WRITE, [Scope.READ, Scope.WRITE]),
        (Scope.ADMIN, [Scope.READ, Scope.WRITE, Scope.ADMIN]),
    ],
)
def test_a_scope_covers_those_before_it(scope: Scope, expected: list[Scope]) -> None:
    assert [required for required in Scope if scope.covers(required)] == expected


# --- the stored tokens ------------------------------------------------------------------------


def test_tokens_round_trip_through_json() -> None:
    expiring = ApiToken("soon", Scope.READ, hash_secret("s"), NOW)
    stored = tokens_json(*(token.to_json() for token in (*ALL, expiring)))
    assert parse_tokens(stored) == (*ALL, expiring)


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
        (tokens_json(CANARY), "tokens[0] must have"),
        (tokens_json({}), "tokens[0] must have"),
        (tokens_json(token_entry(**{CANARY: 1})), "tokens[0] must have"),
        (tokens_json(token_entry(), {"name": CANARY, "scope": "read"}), "tokens[1] must have"),
        (tokens_json(token_entry(name=f"{CANARY} x")), "tokens[0].name"),
        (tokens_json(token_entry(name="")), "tokens[0].name"),
        (tokens_json(token_entry(name="ci\n")), "tokens[0].name"),
        (tokens_json(token_entry(name="é")), "tokens[0].name"),
        (tokens_json(token_entry(name="x" * (NAME_LIMIT + 1))), "tokens[0].name"),
        (tokens_json(token_entry(name=7)), "tokens[0].name"),
        (tokens_json(token_entry(scope=CANARY)), "tokens[0].scope"),
        (tokens_json(token_entry(scope="ADMIN")), "tokens[0].scope"),
        (tokens_json(token_entry(scope=["read"])), "tokens[0].scope"),
        (tokens_json(token_entry(scope=None)), "tokens[0].scope"),
        (tokens_json(token_entry(sha256=CANARY)), "tokens[0].sha256"),
        (tokens_json(token_entry(sha256="A" * 64)), "tokens[0].sha256"),
        (tokens_json(token_entry(sha256=None)), "tokens[0].sha256"),
        (tokens_json(token_entry(expires_at=CANARY)), "tokens[0].expires_at"),
        (tokens_json(token_entry(expires_at=None)), "tokens[0].expires_at"),
        (tokens_json(token_entry(expires_at=7)), "tokens[0].expires_at"),
        (tokens_json(token_entry(expires_at="0001-01-01T00:00:00+10:00")), "tokens[0].expires_at"),
        (tokens_json(token_entry(), token_entry(sha256=hash_secret("other"))), "the same name"),
        (tokens_json(token_entry(), token_entry(name="cd")), "the same hash"),
    ],
)
def test_invalid_tokens_are_rejected_without_repeating_them(content: Any, problem: str) -> None:
    with pytest.raises(InvalidTokensError) as caught:
        parse_tokens(content)
    assert problem in str(caught.value)
    assert CANARY not in "".join(traceback.format_exception(caught.value))


# --- finding a token --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("secret", "token"), [("r-secret", READER), ("w-secret", WRITER), ("a-secret", ROOT)]
)
def test_a_token_is_found_by_its_secret(secret: str, token: ApiToken) -> None:
    assert find_token(ALL, secret, now=NOW) == token


UNKNOWN_SECRETS = [
    "",
    "x",
    "r-secret ",
    "R-SECRET",
    READER.sha256,
    "reader",
    "\udcff",
    "пароль",
    "\0",
]


@pytest.mark.parametrize("secret", [*UNKNOWN_SECRETS, "x" * 1_000_000])
def test_an_unknown_secret_finds_no_token(secret: str) -> None:
    assert find_token(ALL, secret, now=NOW) is None


def test_the_longest_secret_is_accepted_and_a_longer_one_is_not_hashed() -> None:
    longest = "x" * MAX_SECRET_LENGTH
    tokens = [ApiToken("long", Scope.READ, hash_secret(longest))]
    assert find_token(tokens, longest, now=NOW) == tokens[0]
    with patch("duecourse.domain.access.tokens.hash_secret", side_effect=AssertionError):
        assert find_token(tokens, longest + "x", now=NOW) is None


def test_an_empty_list_finds_no_token() -> None:
    assert find_token((), "r-secret", now=NOW) is None


@pytest.mark.parametrize("secret", ["r-secret", "w-secret", "a-secret", "nobody's"])
def test_every_token_is_compared_in_constant_time_for_any_secret(secret: str) -> None:
    with patch("hmac.compare_digest", wraps=hmac.compare_digest) as compare:
        find_token(ALL, secret, now=NOW)
    assert [call.args[0] for call in compare.call_args_list] == [token.sha256 for token in ALL]


@pytest.mark.parametrize(
    ("elapsed", "is_found"),
    [(-MILLISECOND, True), (timedelta(0), False), (MILLISECOND, False)],
)
def test_a_token_is_rejected_from_its_expiry_on(elapsed: timedelta, is_found: bool) -> None:
    token = ApiToken("soon", Scope.READ, hash_secret("s"), NOW)
    assert (find_token([token], "s", now=NOW + elapsed) is token) is is_found


# --- the Authorization header -----------------------------------------------------------------


@pytest.mark.parametrize("header", ["Bearer abc", "bearer abc", "BEARER   abc ", "bEaReR\u0020abc"])
def test_a_bearer_token_is_accepted_on_every_route(header: str) -> None:
    for route in (OTHER_ROUTE, *BROWSER_ROUTES):
        assert extract_secret(header, route=route) == "abc"


@pytest.mark.parametrize(
    "header",
    ["", " ", "abc", "Bearer", "Bearer ", "Bearer\tabc", "Token abc", "Digest abc", " Bearer abc"],
)
def test_another_header_contains_no_secret(header: str) -> None:
    for route in (OTHER_ROUTE, *BROWSER_ROUTES):
        assert extract_secret(header, route=route) is None


@pytest.mark.parametrize("route", sorted(BROWSER_ROUTES))
def test_a_browser_route_accepts_a_password(route: str) -> None:
    assert extract_secret("Basic YWRhOmFiYzpk", route=route) == "abc:d"
    assert auth_challenge(route) == 'Basic realm="duecourse"'


@pytest.mark.parametrize("route", [OTHER_ROUTE, "POST /docs", "GET /docs/", "", "GET /tasks"])
def test_other_routes_accept_no_password(route: str) -> None:
    assert extract_secret("Basic YWRhOmFiYw==", route=route) is None
    assert auth_challenge(route) == "Bearer"


@pytest.mark.parametrize("encoded", ["", "%%%", "YWRh", "YWRhOg==", "/////w==", "é", "YWRhOmFiYw"])
def test_an_invalid_password_header_contains_no_secret(encoded: str) -> None:
    assert extract_secret(f"Basic {encoded}", route="GET /docs") is None
