"""Discord's signature over the timestamp and the body."""

from __future__ import annotations

from datetime import timedelta

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from duecourse.adapters.channels.discord.signature import verify_signature
from duecourse.adapters.http.raw_request import RawRequest
from duecourse.adapters.http.request_errors import NotVerifiedError

from tests.support.builders.moments import NOW
from tests.support.platforms import KEYS, PING, discord_headers, sign_request

BODY, TIMESTAMP = b'{"type": 1}', str(int(NOW.timestamp()))


def test_a_request_signed_by_discord_is_accepted() -> None:
    verify_signature(sign_request("discord", PING, at=NOW).to_raw_request(), KEYS, now=NOW)


def test_a_signature_by_another_key_is_rejected() -> None:
    key = Ed25519PrivateKey.from_private_bytes(bytes(32))
    request = RawRequest(discord_headers(BODY, TIMESTAMP, key=key), BODY)

    with pytest.raises(NotVerifiedError, match="the signature is wrong"):
        verify_signature(request, KEYS, now=NOW)


def test_a_changed_body_is_rejected() -> None:
    request = RawRequest(discord_headers(BODY, TIMESTAMP), b'{"type": 2}')

    with pytest.raises(NotVerifiedError, match="the signature is wrong"):
        verify_signature(request, KEYS, now=NOW)


@pytest.mark.parametrize("signature", ["", "0", "z" * 128, "0" * 127, "٣" * 128])
def test_a_text_that_cannot_be_a_signature_is_rejected(signature: str) -> None:
    headers = {**discord_headers(BODY, TIMESTAMP), "x-signature-ed25519": signature}

    with pytest.raises(NotVerifiedError, match="not 128 hexadecimal digits"):
        verify_signature(RawRequest(headers, BODY), KEYS, now=NOW)


@pytest.mark.parametrize(
    "key", ["", "z" * 64, KEYS["discord"][:-2], KEYS["discord"] + "00", "é" * 64, "0" * 64]
)
def test_an_invalid_public_key_rejects_every_request(key: str) -> None:
    request = sign_request("discord", PING, at=NOW).to_raw_request()

    with pytest.raises(NotVerifiedError):
        verify_signature(request, {"discord": key}, now=NOW)


@pytest.mark.parametrize("seconds", [-301, 301, 10**6])
def test_a_signature_older_or_newer_than_five_minutes_is_rejected(seconds: int) -> None:
    request = sign_request("discord", PING, at=NOW + timedelta(seconds=seconds)).to_raw_request()

    with pytest.raises(NotVerifiedError, match="stale"):
        verify_signature(request, KEYS, now=NOW)
