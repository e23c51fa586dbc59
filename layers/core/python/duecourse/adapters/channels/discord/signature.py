"""Verify Discord's request signature: Ed25519 over the timestamp and the exact body."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

from duecourse.adapters.channels.discord import NAME
from duecourse.adapters.channels.discord.weak_keys import is_weak_key
from duecourse.adapters.channels.verification import require_recent, require_secrets
from duecourse.adapters.http.raw_request import RawRequest
from duecourse.adapters.http.request_errors import NotVerifiedError
from duecourse.ports.integrations import RotatingKeys

SIGNATURE_HEADER = "x-signature-ed25519"
TIMESTAMP_HEADER = "x-signature-timestamp"
_KEY_PATTERN = re.compile(r"[0-9a-fA-F]{64}")
_SIGNATURE_PATTERN = re.compile(r"[0-9a-fA-F]{128}")


def verify_signature(request: RawRequest, keys: RotatingKeys, *, now: datetime) -> None:
    """Raise NotVerifiedError unless Discord signed this request within five minutes.

    Discord sends invalid signatures from time to time, and disables endpoints that accept them.
    """
    secrets = require_secrets(keys, NAME)
    signature = request.header(SIGNATURE_HEADER)
    timestamp = request.header(TIMESTAMP_HEADER)
    require_recent(timestamp, now=now)
    public_keys = _usable_keys(secrets)
    if not _SIGNATURE_PATTERN.fullmatch(signature):
        raise NotVerifiedError("the signature is missing or not 128 hexadecimal digits")
    content = timestamp.encode() + request.body
    if not any(_is_signed(key, bytes.fromhex(signature), content) for key in public_keys):
        raise NotVerifiedError("the signature is wrong")


def _usable_keys(secrets: Sequence[str]) -> list[bytes]:
    """Return the public keys that can verify anything. Raises NotVerifiedError if none can."""
    keys = [bytes.fromhex(key) for key in secrets if _KEY_PATTERN.fullmatch(key)]
    if not keys:
        raise NotVerifiedError("the public key that is set is not 64 hexadecimal digits")
    strong = [key for key in keys if not is_weak_key(key)]
    if not strong:
        raise NotVerifiedError("the public key that is set is weak: anybody could sign for it")
    return strong


def _is_signed(key: bytes, signature: bytes, content: bytes) -> bool:
    # Imported here: only Discord needs it, and it dominates a cold start.
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, content)
    except (InvalidSignature, ValueError):
        return False
    return True
