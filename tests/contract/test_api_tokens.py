"""API tokens in Secrets Manager: changed without a deployment, and refused in time."""

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
READ = "secretsmanager.GetSecretValue"
OLD = ApiToken("old", Scope.READ, hash_secret("old-secret"))
NEW = ApiToken("new", Scope.ADMIN, hash_secret("new-secret"))
HALF = MINUTE / 2
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


def holding(*tokens: ApiToken) -> str:
    return json.dumps({"tokens": [token.to_json() for token in tokens]})


def test_two_tokens_are_known_at_once_and_one_that_is_removed_no_more(
    tokens: SecretApiTokens, write: Write, clock: ManualClock
) -> None:
    write(holding(OLD, NEW))
    assert (tokens.find("old-secret"), tokens.find("new-secret")) == (OLD, NEW)
    write(holding(NEW))
    clock.at += HALF - MILLISECOND
    assert tokens.find("old-secret") == OLD
    clock.at += MILLISECOND
    assert (tokens.find("old-secret"), tokens.find("new-secret")) == (None, NEW)


def test_the_secret_is_read_once_in_half_a_minute_whoever_asks(
    tokens: SecretApiTokens, write: Write, clock: ManualClock, calls: CallInterceptor
) -> None:
    write(holding(OLD))
    with attribute_calls_to("authorizer"):
        for secret in ("old-secret", "wrong", "other"):
            tokens.find(secret)
        assert calls.counts["authorizer", READ] == 1
        clock.at += HALF
        tokens.find("wrong")
    assert calls.counts["authorizer", READ] == 2


def test_a_token_that_expires_while_it_is_kept_is_refused_at_once(
    tokens: SecretApiTokens, write: Write, clock: ManualClock
) -> None:
    write(holding(ApiToken("soon", Scope.READ, hash_secret("s"), NOW + MILLISECOND)))
    assert tokens.find("s") is not None
    clock.at += MILLISECOND
    assert tokens.find("s") is None


def test_a_secret_that_says_nothing_for_sure_lets_nobody_in_until_it_is_mended(
    tokens: SecretApiTokens, write: Write, clock: ManualClock
) -> None:
    write(holding(OLD))
    assert tokens.find("old-secret") == OLD
    clock.at += HALF
    write("oops")
    for _ in range(2):
        with pytest.raises(InvalidTokensError):
            tokens.find("old-secret")
    write(holding(OLD))
    assert tokens.find("old-secret") == OLD


@pytest.mark.usefixtures("aws")
def test_a_secret_that_cannot_be_read_is_told_by_awss_own_word(clock: ManualClock) -> None:
    with pytest.raises(SecretUnreadableError, match=r"API tokens.*ResourceNotFoundException"):
        SecretApiTokens("nowhere", clock).find("old-secret")


def test_a_token_is_known_by_its_hash_as_long_as_by_itself(
    tokens: SecretApiTokens, write: Write, clock: ManualClock
) -> None:
    ends = ApiToken("ends", Scope.READ, hash_secret("ends-secret"), NOW + MINUTE)
    write(holding(OLD, ends))
    assert tokens.find_by_hash(OLD.sha256) == OLD
    assert tokens.find_by_hash(NEW.sha256) is None
    clock.at += MINUTE - MILLISECOND
    assert tokens.find_by_hash(ends.sha256) == ends
    clock.at += MILLISECOND
    assert tokens.find_by_hash(ends.sha256) is None
    write(holding())
    clock.at += HALF
    assert tokens.find_by_hash(OLD.sha256) is None
