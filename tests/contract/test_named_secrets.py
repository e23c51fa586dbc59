"""Secrets that tasks may name: only those listed, each read once in five minutes."""

from __future__ import annotations

from collections.abc import Iterator

import boto3
import pytest
from duecourse.adapters.aws.cached_secret import SecretUnreadableError
from duecourse.adapters.aws.named_secrets import NamedSecretReader
from duecourse.domain.errors import NotConfiguredError

from local.runtime.call_interceptor import CallInterceptor, attribute_calls_to
from local.runtime.template import Resolver
from tests.support.builders.moments import MILLISECOND, MINUTE, NOW
from tests.support.fakes.clock import ManualClock

READ_CALL = "secretsmanager.GetSecretValue"
NAMES = ("team/crm-token", "other-token", "a-b-c123")
MISSING = "arn:aws:secretsmanager:eu-central-1:123456789012:secret:missing-AbCdEf"


@pytest.fixture
def arns(aws: Resolver) -> Iterator[list[str]]:  # noqa: ARG001 - its region
    client = boto3.client("secretsmanager")
    yield [client.create_secret(Name=name, SecretString=f"of {name}")["ARN"] for name in NAMES]
    for name in NAMES:
        client.delete_secret(SecretId=name, ForceDeleteWithoutRecovery=True)


def test_a_listed_secret_is_read_by_its_name(arns: list[str]) -> None:
    secrets = NamedSecretReader(arns, ManualClock(NOW))
    assert {name: secrets[name] for name in secrets} == {name: f"of {name}" for name in NAMES}


def test_a_secret_that_is_not_listed_cannot_be_named(arns: list[str]) -> None:
    secrets = NamedSecretReader(arns[:1], ManualClock(NOW))
    assert ("team/crm-token" in secrets, "other-token" in secrets) == (True, False)
    with pytest.raises(KeyError):
        secrets["other-token"]


def test_a_secret_is_read_once_in_five_minutes_and_only_if_it_is_used(
    arns: list[str], calls: CallInterceptor
) -> None:
    clock = ManualClock(NOW)
    with attribute_calls_to("worker"):
        secrets = NamedSecretReader(arns, clock)
        assert (list(secrets), calls.counts["worker", READ_CALL]) == (list(NAMES), 0)
        for _ in range(3):
            assert secrets["other-token"]
        clock.at += 5 * MINUTE - MILLISECOND
        assert secrets["other-token"]
        assert calls.counts["worker", READ_CALL] == 1
        clock.at += MILLISECOND
        assert secrets["other-token"]
    assert calls.counts["worker", READ_CALL] == 2


@pytest.mark.usefixtures("aws")
def test_a_missing_secret_is_not_configured() -> None:
    with pytest.raises(NotConfiguredError, match="the secret missing is not configured"):
        NamedSecretReader([MISSING], ManualClock(NOW))["missing"]


def test_a_binary_secret_is_refused(arns: list[str]) -> None:
    boto3.client("secretsmanager").put_secret_value(SecretId=arns[0], SecretBinary=b"zq7")
    with pytest.raises(SecretUnreadableError, match="must be text") as caught:
        NamedSecretReader(arns, ManualClock(NOW))["team/crm-token"]
    assert "zq7" not in str(caught.value)
