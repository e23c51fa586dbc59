"""Sign outgoing webhooks by the Standard Webhooks specification.

The signature covers id, timestamp and body, so none of them can be changed on the way. Each host
has a key of its own, derived from the stack's, so a receiver cannot sign for another.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from collections.abc import Iterable
from datetime import datetime

from duecourse.domain.errors import DuecourseError
from duecourse.domain.origin import Effect

KEY_PREFIX = "whsec_"
MIN_SECRET_BYTES = 24  # required by the standard
_DERIVATION_SALT = b"duecourse webhook signing key of a host"


class InvalidSecretError(DuecourseError):
    """The signing secret is malformed. The message never repeats it."""

    type = "BadSecret"
    code = "bad_secret"
    effect = Effect.NONE


def derive_host_key(secret: str, host: str) -> bytes:
    """Return the key of `host`, in lower case, by HKDF-SHA256 (RFC 5869) from the stack's secret.

    Raises InvalidSecretError. The result must never change: receivers have it.
    """
    extracted = hmac.digest(_DERIVATION_SALT, decode_secret(secret), hashlib.sha256)
    # One block of output, the number of which follows the host.
    return hmac.digest(extracted, host.encode() + b"\x01", hashlib.sha256)


def format_key(key: bytes) -> str:
    """Return the key as the receivers' libraries take it."""
    return KEY_PREFIX + base64.b64encode(key).decode()


def sign_headers(
    message_id: str, body: bytes, *, keys: Iterable[bytes], at: datetime
) -> dict[str, str]:
    """Return the three signature headers of a message, with one signature by each key."""
    if at.tzinfo is None:
        raise ValueError(f"{at} has no time zone")
    timestamp = str(int(at.timestamp()))
    content = f"{message_id}.{timestamp}.".encode() + body
    digests = [hmac.digest(key, content, hashlib.sha256) for key in keys]
    return {
        "webhook-id": message_id,
        "webhook-timestamp": timestamp,
        "webhook-signature": " ".join(f"v1,{base64.b64encode(one).decode()}" for one in digests),
    }


def decode_secret(secret: str) -> bytes:
    """Return the bytes of a secret in base64. Raises InvalidSecretError."""
    try:
        key = base64.b64decode(secret.strip().removeprefix(KEY_PREFIX), validate=True)
    except (binascii.Error, ValueError):
        raise InvalidSecretError("the signing secret is not base64") from None
    if len(key) < MIN_SECRET_BYTES:
        raise InvalidSecretError(f"the signing secret is shorter than {MIN_SECRET_BYTES} bytes")
    return key
