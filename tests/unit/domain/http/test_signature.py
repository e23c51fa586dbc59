"""Outgoing requests are signed as Standard Webhooks specifies."""

from __future__ import annotations

import base64
import hashlib
import hmac
from datetime import UTC, datetime, timedelta, timezone

import pytest
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from duecourse.domain.http.signature import (
    InvalidSecretError,
    decode_secret,
    derive_host_key,
    format_key,
    sign_headers,
)

KEY = bytes(range(32))
SECRET = base64.b64encode(KEY).decode()
AT = datetime(2026, 2, 17, 12, 0, 0, 999_000, tzinfo=UTC)


def test_the_example_of_the_standard_is_reproduced() -> None:
    headers = sign_headers(
        "msg_p5jXN8AQM9LWM0D4loKWxJek",
        b'{"test": 2432232314}',
        keys=[decode_secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")],
        at=datetime.fromtimestamp(1614265330, UTC),
    )
    assert headers == {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }


def test_id_timestamp_and_body_are_signed() -> None:
    digest = hmac.digest(KEY, b"key-1.1771329600.\xff\x00body", hashlib.sha256)
    headers = sign_headers("key-1", b"\xff\x00body", keys=[KEY], at=AT)
    assert headers["webhook-signature"] == "v1," + base64.b64encode(digest).decode()


def test_each_key_makes_a_signature_in_its_order() -> None:
    one, other = (
        sign_headers("key-1", b"body", keys=[key], at=AT)["webhook-signature"]
        for key in (KEY, KEY[::-1])
    )
    both = sign_headers("key-1", b"body", keys=[KEY, KEY[::-1]], at=AT)
    assert both["webhook-signature"] == f"{one} {other}"


def test_the_prefix_of_a_secret_is_optional() -> None:
    assert decode_secret(SECRET) == decode_secret(f"whsec_{SECRET}\n") == KEY


def test_the_key_of_a_host_is_the_one_that_receivers_have() -> None:
    """If this changes, every receiver refuses our requests."""
    derived = HKDF(SHA256(), 32, salt=b"duecourse webhook signing key of a host", info=b"a.example")
    assert derive_host_key(SECRET, "a.example") == derived.derive(KEY)
    expected = "whsec_fHbxGN7/J00kmckTtsct04rcDI9EqtGb0LDVppL6Ips="
    assert format_key(derive_host_key(SECRET, "a.example")) == expected


def test_every_host_and_every_secret_has_another_key() -> None:
    hosts = ["a.example", "b.example", "a.example.b.example", "xa.example"]
    other = base64.b64encode(KEY[::-1]).decode()
    keys = [derive_host_key(secret, host) for secret in (SECRET, other) for host in hosts]
    assert len({KEY, *keys}) == 2 * len(hosts) + 1


def test_the_timestamp_is_in_whole_seconds_in_any_timezone() -> None:
    at = AT.astimezone(timezone(timedelta(hours=9)))
    assert sign_headers("key-1", b"", keys=[KEY], at=at)["webhook-timestamp"] == "1771329600"


def test_a_time_without_a_timezone_is_rejected() -> None:
    with pytest.raises(ValueError, match="no time zone"):
        sign_headers("key-1", b"", keys=[KEY], at=AT.replace(tzinfo=None))


@pytest.mark.parametrize(
    "secret", ["not base64!", "ä" * 40, SECRET[:-1], f"{SECRET[:8]}-_-_{SECRET[8:]}"]
)
def test_an_invalid_secret_is_rejected_without_repeating_it(secret: str) -> None:
    with pytest.raises(InvalidSecretError) as error:
        decode_secret(secret)
    assert str(error.value) == "the signing secret is not base64"


@pytest.mark.parametrize("secret", ["", "whsec_", "c2hvcnQ=", base64.b64encode(KEY[:23]).decode()])
def test_a_short_secret_is_rejected(secret: str) -> None:
    with pytest.raises(InvalidSecretError) as error:
        decode_secret(secret)
    assert str(error.value) == "the signing secret is shorter than 24 bytes"
