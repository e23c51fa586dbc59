"""Verify Discord's request signature: Ed25519 over the timestamp and the exact body."""

from __future__ import annotations

import re
from datetime import datetime

from duecourse.adapters.channels.discord import NAME
from duecourse.adapters.channels.verification import require_recent, require_secret
from duecourse.adapters.http.raw_request import RawRequest
from duecourse.adapters.http.request_errors import NotVerifiedError
from duecourse.ports.integrations import Keys

SIGNATURE_HEADER = "x-signature-ed25519"
TIMESTAMP_HEADER = "x-signature-timestamp"
_KEY_PATTERN = re.compile(r"[0-9a-fA-F]{64}")
_SIGNATURE_PATTERN = re.compile(r"[0-9a-fA-F]{128}")


def verify_signature(request: RawRequest, keys: Keys, *, now: datetime) -> None:
    """Raise NotVerifiedError unless Discord signed this request within five minutes.

    Discord sends invalid signatures from time to time, and disables endpoints that accept them.
    """
    key = require_secret(keys, NAME)
    signature = request.header(SIGNATURE_HEADER)
    timestamp = request.header(TIMESTAMP_HEADER)
    require_recent(timestamp, now=now)
    if not _KEY_PATTERN.fullmatch(key):
        raise NotVerifiedError("the public key that is set is not 64 hexadecimal digits")
    if not _SIGNATURE_PATTERN.fullmatch(signature):
        raise NotVerifiedError("the signature is missing or not 128 hexadecimal digits")
    _verify_ed25519(key, signature, timestamp.encode() + request.body)


def _verify_ed25519(key: str, signature: str, content: bytes) -> None:
    # Imported here: only Discord needs it, and it dominates a cold start.
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(key)).verify(
            bytes.fromhex(signature), content
        )
    except (InvalidSignature, ValueError):
        raise NotVerifiedError("the signature is wrong") from None
