"""Signs what goes out as Standard Webhooks has it: its receiver knows who sent it, and when.

The signature covers the id, the time and the body: none of them can be changed on the way.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from datetime import datetime

from duecourse.domain.errors import DuecourseError
from duecourse.domain.origin import Effect

PREFIX = "whsec_"
SHORTEST_SECRET = 24  # bytes, as the standard asks


class BadSecretError(DuecourseError):
    """Says what is wrong with a secret without a word of it."""

    type = "BadSecret"
    code = "bad_secret"
    effect = Effect.NONE


def signed_headers(message_id: str, body: bytes, *, secret: str, at: datetime) -> dict[str, str]:
    """The three headers of a message. Raises BadSecretError."""
    if at.tzinfo is None:
        raise ValueError(f"{at} has no time zone")
    timestamp = str(int(at.timestamp()))
    content = f"{message_id}.{timestamp}.".encode() + body
    digest = hmac.new(_key_in(secret), content, hashlib.sha256).digest()
    return {
        "webhook-id": message_id,
        "webhook-timestamp": timestamp,
        "webhook-signature": "v1," + base64.b64encode(digest).decode(),
    }


def _key_in(secret: str) -> bytes:
    try:
        key = base64.b64decode(secret.strip().removeprefix(PREFIX), validate=True)
    except (binascii.Error, ValueError):
        raise BadSecretError("the signing secret is not base64") from None
    if len(key) < SHORTEST_SECRET:
        raise BadSecretError(f"the signing secret is shorter than {SHORTEST_SECRET} bytes")
    return key
