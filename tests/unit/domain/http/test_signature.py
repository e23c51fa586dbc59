"""Outgoing requests are signed as Standard Webhooks specifies."""

from __future__ import annotations

import base64
import hashlib
import hmac
from datetime import UTC, datetime, timedelta, timezone

import pytest
from duecourse.domain.http.signature import InvalidSecretError, sign_headers

KEY = bytes(range(32))
SECRET = base64.b64encode(KEY).decode()
AT = datetime(2026, 2, 17, 12, 0, 0, 999_000, tzinfo=UTC)


def test_the_example_of_the_standard_is_reproduced() -> None:
    headers = sign_headers(
        "msg_p5jXN8AQM9LWM0D4loKWxJek",
        b'{"test": 2432232314}',
        secret="whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        at=datetime.fromtimestamp(1614265330, UTC),
    )
    assert headers == {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }


def test_id_timestamp_and_body_are_signed() -> None:
    digest = hmac.digest(KEY, b"key-1.1771329600.\xff\x00body", hashlib.sha256)
    headers = sign_headers("key-1", b"\xff\x00body", secret=SECRET, at=AT)
    assert headers["webhook-signature"] == "v1," + base64.b64encode(digest).decode()


def test_the_prefix_of_a_secret_is_optional() -> None:
    without_prefix = sign_headers("key-1", b"body", secret=SECRET, at=AT)
    assert without_prefix == sign_headers("key-1", b"body", secret=f"whsec_{SECRET}\n", at=AT)


def test_the_timestamp_is_in_whole_seconds_in_any_timezone() -> None:
    at = AT.astimezone(timezone(timedelta(hours=9)))
    assert sign_headers("key-1", b"", secret=SECRET, at=at)["webhook-timestamp"] == "1771329600"


def test_a_time_without_a_timezone_is_rejected() -> None:
    with pytest.raises(ValueError, match="no time zone"):
        sign_headers("key-1", b"", secret=SECRET, at=AT.replace(tzinfo=None))


@pytest.mark.parametrize(
    "secret", ["not base64!", "ä" * 40, SECRET[:-1], f"{SECRET[:8]}-_-_{SECRET[8:]}"]
)
def test_an_invalid_secret_is_rejected_without_repeating_it(secret: str) -> None:
    with pytest.raises(InvalidSecretError) as error:
        sign_headers("key-1", b"", secret=secret, at=AT)
    assert str(error.value) == "the signing secret is not base64"


@pytest.mark.parametrize("secret", ["", "whsec_", "c2hvcnQ=", base64.b64encode(KEY[:23]).decode()])
def test_a_short_secret_is_rejected(secret: str) -> None:
    with pytest.raises(InvalidSecretError) as error:
        sign_headers("key-1", b"", secret=secret, at=AT)
    assert str(error.value) == "the signing secret is shorter than 24 bytes"
