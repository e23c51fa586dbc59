"""API tokens in Secrets Manager: changed without a deployment, and cached for half a minute."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import boto3
import pytest
from duecourse.adapters.aws.api_tokens import SecretApiTokens
from duecourse.adapters.aws.cached_secret import SecretUnreadableError
from duecourse.domain.access.scope import Scope
from duecourse.domain.access.tokens import ApiToken, InvalidTokensError, hash_secret

from local.runtime.call_interceptor import CallInterceptor, attribute_calls_to
from local.runtime.template import Resolver
from tests.support.builders.moments import MILLISECOND, MINUTE, NOW
from tests.support.fakes.clock import ManualClock

NAME = "duecourse-test-api-tokens"
READ_CALL = "secretsmanager.GetSecretValue"
OLD = ApiToken("old", Scope.READ, hash_secret("old-secret"))
NEW = ApiToken("new", Scope.ADMIN, hash_secret("new-secret"))
CACHE_TTL = MINUTE / 2
Write = Callable[[str], None]


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(NOW)


@pytest.fixture
def tokens(clock: ManualClock) -> SecretApiTokens:
    return SecretApiTokens(NAME, clock)


@pytest.fixture
def write(aws: Resolver) -> Iterator[Write]:  # noqa: ARG001 - its region
    client = boto3.client("secretsmanager")
    client.create_secret(Name=NAME)
    yield lambda text: client.put_secret_value(SecretId=NAME, SecretString=text)
    client.delete_secret(SecretId=NAME, ForceDeleteWithoutRecovery=True)


def secret_with(*tokens: ApiToken) -> str:
    return json.dumps({"tokens": [token.to_json() for token in tokens]})


def test_several_tokens_are_valid_until_they_are_removed(
    tokens: SecretApiTokens, write: Write, clock: ManualClock
) -> None:
    write(secret_with(OLD, NEW))
    assert (tokens.find("old-secret"), tokens.find("new-secret")) == (OLD, NEW)
    write(secret_with(NEW))
    clock.at += CACHE_TTL - MILLISECOND
    assert tokens.find("old-secret") == OLD
    clock.at += MILLISECOND
    assert (tokens.find("old-secret"), tokens.find("new-secret")) == (None, NEW)


def test_the_secret_is_read_once_in_half_a_minute(
    tokens: SecretApiTokens, write: Write, clock: ManualClock, calls: CallInterceptor
) -> None:
    write(secret_with(OLD))
    with attribute_calls_to("authorizer"):
        for secret in ("old-secret", "wrong", "other"):
            tokens.find(secret)
        assert calls.counts["authorizer", READ_CALL] == 1
        clock.at += CACHE_TTL
        tokens.find("wrong")
    assert calls.counts["authorizer", READ_CALL] == 2


def test_a_cached_token_is_refused_as_soon_as_it_expires(
    tokens: SecretApiTokens, write: Write, clock: ManualClock
) -> None:
    write(secret_with(ApiToken("soon", Scope.READ, hash_secret("s"), NOW + MILLISECOND)))
    assert tokens.find("s") is not None
    clock.at += MILLISECOND
    assert tokens.find("s") is None


def test_an_invalid_secret_refuses_every_token_until_it_is_fixed(
    tokens: SecretApiTokens, write: Write, clock: ManualClock
) -> None:
    write(secret_with(OLD))
    assert tokens.find("old-secret") == OLD
    clock.at += CACHE_TTL
    write("oops")
    for _ in range(2):
        with pytest.raises(InvalidTokensError):
            tokens.find("old-secret")
    write(secret_with(OLD))
    assert tokens.find("old-secret") == OLD


@pytest.mark.usefixtures("aws")
def test_an_unreadable_secret_raises_the_error_code_of_aws(clock: ManualClock) -> None:
    with pytest.raises(SecretUnreadableError, match=r"API tokens.*ResourceNotFoundException"):
        SecretApiTokens("nowhere", clock).find("old-secret")


def test_a_token_is_found_by_its_hash_as_long_as_by_its_secret(
    tokens: SecretApiTokens, write: Write, clock: ManualClock
) -> None:
    expiring = ApiToken("ends", Scope.READ, hash_secret("ends-secret"), NOW + MINUTE)
    write(secret_with(OLD, expiring))
    assert tokens.find_by_hash(OLD.sha256) == OLD
    assert tokens.find_by_hash(NEW.sha256) is None
    clock.at += MINUTE - MILLISECOND
    assert tokens.find_by_hash(expiring.sha256) == expiring
    clock.at += MILLISECOND
    assert tokens.find_by_hash(expiring.sha256) is None
    write(secret_with())
    clock.at += CACHE_TTL
    assert tokens.find_by_hash(OLD.sha256) is None
