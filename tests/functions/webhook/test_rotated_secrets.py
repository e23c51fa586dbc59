"""The secrets that verify incoming requests are replaced while messages come in."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from duecourse.app import stores

from local.runtime import aws_clients
from tests.support.platforms import (
    KEYS,
    PlatformRequest,
    a_command_request,
    discord_headers,
    every_platform,
    has_no_effect,
    post,
    slack_headers,
)
from tests.support.stack_client import StackClient
from tests.support.weak_discord_keys import WEAK_KEYS, forge_request

NEW_DISCORD_KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(1, 33)))
NEW_KEYS = {
    "telegram": "another-telegram-secret",
    "slack": "0123456789abcdef0123456789abcdef",
    "discord": NEW_DISCORD_KEY.public_key().public_bytes_raw().hex(),
}


def put_keys(client: StackClient, keys: Mapping[str, str | Sequence[str]]) -> None:
    """Replace the secret, and wait until running functions read it again."""
    secret_id = stores.settings().chat_verification_secret
    secrets = aws_clients.client("secretsmanager")
    secrets.put_secret_value(SecretId=secret_id, SecretString=json.dumps(keys))
    client.advance("5m")


def sign_with_new_key(client: StackClient, platform: str) -> PlatformRequest:
    request = a_command_request(client, platform)
    timestamp = str(int(client.stack.clock.now().timestamp()))
    headers = {
        "telegram": {"x-telegram-bot-api-secret-token": NEW_KEYS["telegram"]},
        "slack": slack_headers(request.body, timestamp, secret=NEW_KEYS["slack"]),
        "discord": discord_headers(request.body, timestamp, key=NEW_DISCORD_KEY),
    }[platform]
    return replace(request, headers={**request.headers, **headers})


def statuses(client: StackClient, platform: str) -> tuple[int, int]:
    """Return the responses to a request with the old key and to one with the new."""
    old, new = a_command_request(client, platform), sign_with_new_key(client, platform)
    return post(client, old).status, post(client, new).status


@every_platform
def test_old_and_new_secret_verify_until_the_old_one_is_removed(
    client: StackClient, platform: str
) -> None:
    assert statuses(client, platform) == (200, 401)
    put_keys(client, {platform: [NEW_KEYS[platform], KEYS[platform]]})
    assert statuses(client, platform) == (200, 200)
    put_keys(client, {platform: [NEW_KEYS[platform]]})
    assert statuses(client, platform) == (401, 200)
    put_keys(client, {platform: f"{NEW_KEYS[platform]}\n"})
    assert statuses(client, platform) == (401, 200)


@every_platform
@pytest.mark.parametrize(
    "keys", [[], [""], ["", " "], None, 7, {}, [None], [["x"]]], ids=lambda keys: json.dumps(keys)
)
def test_without_a_usable_secret_every_request_is_refused(
    client: StackClient, platform: str, keys: Sequence[str]
) -> None:
    put_keys(client, {platform: keys})

    assert {status // 100 for status in statuses(client, platform)} <= {4, 5}
    guess = a_command_request(client, platform)
    emptied = replace(guess, headers=dict.fromkeys(guess.headers, ""))
    assert post(client, emptied).status // 100 in {4, 5}
    assert has_no_effect(client)


def test_forgeries_under_weak_keys_are_refused(client: StackClient) -> None:
    put_keys(client, {"discord": list(WEAK_KEYS.values())})
    timestamp = str(int(client.stack.clock.now().timestamp()))

    responses = [post(client, forge_request(key, timestamp)) for key in WEAK_KEYS.values()]
    assert [response.status for response in responses] == [401] * len(WEAK_KEYS)
