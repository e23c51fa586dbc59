"""API keys in Secrets Manager: cached for five minutes, and never part of an error text."""

from __future__ import annotations

import json
import traceback
from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial

import boto3
import pytest
from duecourse.adapters.aws.cached_secret import SecretUnreadableError, secrets_client
from duecourse.adapters.aws.secret_keys import SecretKeys
from duecourse.domain.failures.classifier.engine import diagnose
from duecourse.domain.failures.failure import Failure
from duecourse.domain.origin import Origin

from local.runtime.call_interceptor import CallInterceptor, attribute_calls_to
from local.runtime.template import Resolver
from tests.support.builders.failures import builtin_policies
from tests.support.builders.moments import MILLISECOND, MINUTE, NOW
from tests.support.fakes.clock import ManualClock

NAME = "duecourse-test-provider-keys"
READ_CALL = "secretsmanager.GetSecretValue"
KEY = "qz-7Hd03kLmNo99pQr"


Write = Callable[..., None]


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(NOW)


@pytest.fixture
def keys(clock: ManualClock) -> SecretKeys:
    return SecretKeys(NAME, clock)


@pytest.fixture
def write(aws: Resolver) -> Iterator[Write]:  # noqa: ARG001 - its region
    """Create an empty secret and return a function that writes it."""
    client = boto3.client("secretsmanager")
    client.create_secret(Name=NAME)
    yield partial(client.put_secret_value, SecretId=NAME)
    client.delete_secret(SecretId=NAME, ForceDeleteWithoutRecovery=True)


def test_a_key_is_returned_by_its_name(keys: SecretKeys, write: Write) -> None:
    write(SecretString=json.dumps({"openai": KEY, "anthropic": "other"}))
    assert keys.get("openai") == KEY
    assert keys.get("anthropic") == "other"


def test_a_missing_or_empty_key_is_none(keys: SecretKeys, write: Write) -> None:
    write(SecretString=json.dumps({"openai": "", "anthropic": KEY}))
    assert keys.get("openai") is None
    assert keys.get("bedrock") is None


def test_the_secret_is_read_once_in_five_minutes(
    keys: SecretKeys, write: Write, clock: ManualClock, calls: CallInterceptor
) -> None:
    write(SecretString="{}")
    with attribute_calls_to("worker"):
        for name in ("openai", "openai", "anthropic"):
            keys.get(name)
        clock.at += 5 * MINUTE - MILLISECOND
        keys.get("openai")
        assert calls.counts["worker", READ_CALL] == 1
        clock.at += MILLISECOND
        keys.get("openai")
    assert calls.counts["worker", READ_CALL] == 2


def test_a_changed_key_is_used_after_five_minutes(
    keys: SecretKeys, write: Write, clock: ManualClock
) -> None:
    write(SecretString=json.dumps({"openai": "old"}))
    assert keys.get("openai") == "old"
    write(SecretString=json.dumps({"openai": KEY}))
    assert keys.get("openai") == "old"
    clock.at += 5 * MINUTE
    assert keys.get("openai") == KEY


INVALID_SECRETS = [
    KEY,
    " ",
    "[]",
    "null",
    f'["{KEY}"]',
    '{"openai": 7}',
    f'{{"openai": ["{KEY}"]}}',
]
INVALID_SECRETS += [f'{{"openai": "{KEY}"', f'{{"openai": {{"key": "{KEY}"}}}}', "[" * 50_000]


@pytest.mark.parametrize(("age", "is_new"), [(29, False), (30, True)])
def test_a_refreshed_secret_is_read_again_unless_it_is_recent(
    keys: SecretKeys, write: Write, clock: ManualClock, age: int, is_new: bool
) -> None:
    write(SecretString=json.dumps({"openai": "old"}))
    assert keys.get("openai") == "old"
    write(SecretString=json.dumps({"openai": KEY}))
    clock.at += timedelta(seconds=age)
    keys.refresh()
    assert (keys.get("openai") == KEY) is is_new


@pytest.mark.parametrize("content", INVALID_SECRETS, ids=range(len(INVALID_SECRETS)))
def test_an_invalid_secret_is_refused_without_revealing_it(
    keys: SecretKeys, write: Write, content: str
) -> None:
    write(SecretString=content)
    with pytest.raises(SecretUnreadableError, match="must hold JSON: an object") as caught:
        keys.get("openai")
    traceback_text = "".join(traceback.format_exception(caught.value))
    assert KEY not in traceback_text


def test_a_binary_secret_is_refused(keys: SecretKeys, write: Write) -> None:
    write(SecretBinary=json.dumps({"openai": KEY}).encode())
    with pytest.raises(SecretUnreadableError, match="must hold JSON: an object"):
        keys.get("openai")


@pytest.mark.usefixtures("aws")
def test_a_missing_secret_is_not_an_error_of_the_provider(clock: ManualClock) -> None:
    with pytest.raises(SecretUnreadableError, match="ResourceNotFoundException") as caught:
        SecretKeys("nowhere", clock).get("openai")
    assert (caught.value.origin, caught.value.cost) == (Origin.NOT_ATTEMPTED, 0)
    failure = Failure.from_exception(caught.value)
    diagnoses = [diagnose(failure, builtin_policies()[name]) for name in ("agent", "enrichment")]
    assert [diagnosis.category for diagnosis in diagnoses] == ["transient", "network_timeout"]


@pytest.mark.usefixtures("aws")
def test_an_error_names_the_secret_and_no_provider(clock: ManualClock) -> None:
    chat = SecretKeys("nowhere", clock, label="chat tokens")
    with pytest.raises(SecretUnreadableError, match="the secret of the chat tokens cannot be read"):
        chat.get("telegram")


def test_after_an_error_it_is_read_again(keys: SecretKeys, write: Write) -> None:
    write(SecretString="oops")
    with pytest.raises(SecretUnreadableError):
        keys.get("openai")
    write(SecretString=json.dumps({"openai": KEY}))
    assert keys.get("openai") == KEY


@pytest.mark.usefixtures("aws")
def test_the_secrets_client_has_short_timeouts() -> None:
    config = secrets_client().meta.config
    assert (config.connect_timeout, config.read_timeout) == (1, 3)


def test_no_client_is_created_before_a_key_is_read(clock: ManualClock) -> None:
    def fail_if_called() -> None:
        pytest.fail("a client was made")

    SecretKeys(NAME, clock, make_client=fail_if_called)
