"""Sign outgoing webhooks by the Standard Webhooks specification.

The signature covers id, timestamp and body, so none of them can be changed on the way.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from datetime import datetime

from duecourse.domain.errors import DuecourseError
from duecourse.domain.origin import Effect

KEY_PREFIX = "whsec_"
MIN_SECRET_BYTES = 24  # required by the standard


class InvalidSecretError(DuecourseError):
    """The signing secret is malformed. The message never repeats it."""

    type = "BadSecret"
    code = "bad_secret"
    effect = Effect.NONE


def sign_headers(message_id: str, body: bytes, *, secret: str, at: datetime) -> dict[str, str]:
    """Return the three signature headers of a message. Raises InvalidSecretError."""
    if at.tzinfo is None:
        raise ValueError(f"{at} has no time zone")
    timestamp = str(int(at.timestamp()))
    content = f"{message_id}.{timestamp}.".encode() + body
    digest = hmac.new(_decode_secret(secret), content, hashlib.sha256).digest()
    return {
        "webhook-id": message_id,
        "webhook-timestamp": timestamp,
        "webhook-signature": "v1," + base64.b64encode(digest).decode(),
    }


def _decode_secret(secret: str) -> bytes:
    try:
        key = base64.b64decode(secret.strip().removeprefix(KEY_PREFIX), validate=True)
    except (binascii.Error, ValueError):
        raise InvalidSecretError("the signing secret is not base64") from None
    if len(key) < MIN_SECRET_BYTES:
        raise InvalidSecretError(f"the signing secret is shorter than {MIN_SECRET_BYTES} bytes")
    return key
