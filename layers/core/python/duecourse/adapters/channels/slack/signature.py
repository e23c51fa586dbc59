"""Verify Slack's request signature: HMAC-SHA256 over the timestamp and the exact body."""

from __future__ import annotations

import hashlib
import hmac
from datetime import datetime

from duecourse.adapters.channels.slack import NAME
from duecourse.adapters.channels.verification import require_match, require_recent, require_secrets
from duecourse.adapters.http.raw_request import RawRequest
from duecourse.ports.integrations import RotatingKeys

SIGNATURE_HEADER = "x-slack-signature"
TIMESTAMP_HEADER = "x-slack-request-timestamp"


def verify_signature(request: RawRequest, keys: RotatingKeys, *, now: datetime) -> None:
    """Raise NotVerifiedError unless a signing secret signed this request within five minutes."""
    secrets = require_secrets(keys, NAME)
    timestamp = request.header(TIMESTAMP_HEADER)
    require_recent(timestamp, now=now)
    content = f"v0:{timestamp}:".encode() + request.body
    require_match(
        "signature",
        actual=request.header(SIGNATURE_HEADER),
        expected=[_sign(content, secret) for secret in secrets],
    )


def _sign(content: bytes, secret: str) -> str:
    return "v0=" + hmac.new(secret.encode(), content, hashlib.sha256).hexdigest()
