"""Public keys under which anybody can sign are refused, in every encoding."""

from __future__ import annotations

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from duecourse.adapters.channels.discord.signature import verify_signature
from duecourse.adapters.channels.discord.weak_keys import is_weak_key
from duecourse.adapters.http.request_errors import NotVerifiedError

from tests.support.builders.moments import NOW
from tests.support.platforms import DISCORD_PUBLIC_KEY, PING, sign_request
from tests.support.weak_discord_keys import CANONICAL, FORGED_SIGNATURE, WEAK_KEYS, forge_request

TIMESTAMP = str(int(NOW.timestamp()))
FIELD_PRIME = 2**255 - 19
every_weak_key = pytest.mark.parametrize("key", WEAK_KEYS.values(), ids=WEAK_KEYS)


@every_weak_key
def test_a_forged_signature_under_a_weak_key_is_refused(key: str) -> None:
    request = forge_request(key, TIMESTAMP).to_raw_request()

    with pytest.raises(NotVerifiedError, match="weak: anybody could sign for it"):
        verify_signature(request, {"discord": key}, now=NOW)


@pytest.mark.parametrize("key", CANONICAL.values(), ids=CANONICAL)
def test_the_library_accepts_the_forgeries(key: str) -> None:
    """Without this, the test above could pass with forgeries that nobody accepts."""
    request = forge_request(key, TIMESTAMP)
    public_key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(key))

    public_key.verify(FORGED_SIGNATURE, TIMESTAMP.encode() + request.body)
    with pytest.raises(InvalidSignature):
        public_key.verify(bytes(31) + FORGED_SIGNATURE[:33], TIMESTAMP.encode() + request.body)


@every_weak_key
def test_a_weak_key_in_a_list_counts_for_nothing(key: str) -> None:
    keys = {"discord": [key, DISCORD_PUBLIC_KEY]}
    verify_signature(sign_request("discord", PING, at=NOW).to_raw_request(), keys, now=NOW)

    with pytest.raises(NotVerifiedError, match="the signature is wrong"):
        verify_signature(forge_request(key, TIMESTAMP).to_raw_request(), keys, now=NOW)


@pytest.mark.parametrize("excess", range(19))
@pytest.mark.parametrize("sign", [0, 2**255], ids=["positive", "negative"])
def test_every_encoding_that_is_not_canonical_is_weak(excess: int, sign: int) -> None:
    assert is_weak_key((FIELD_PRIME + excess + sign).to_bytes(32, "little"))


@pytest.mark.parametrize("seed", range(20))
def test_a_real_key_is_not_weak(seed: int) -> None:
    key = Ed25519PrivateKey.from_private_bytes(bytes([seed]) * 32)
    assert not is_weak_key(key.public_key().public_bytes_raw())
