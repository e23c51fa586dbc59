"""Verify Slack's request signature: HMAC-SHA256 over the timestamp and the exact body."""

from __future__ import annotations

import hashlib
import hmac
from datetime import datetime

from duecourse.adapters.channels.slack import NAME
from duecourse.adapters.channels.verification import require_match, require_recent, require_secret
from duecourse.adapters.http.raw_request import RawRequest
from duecourse.ports.integrations import Keys

SIGNATURE_HEADER = "x-slack-signature"
TIMESTAMP_HEADER = "x-slack-request-timestamp"


def verify_signature(request: RawRequest, keys: Keys, *, now: datetime) -> None:
    """Raise NotVerifiedError unless the signing secret signed this request within five minutes."""
    secret = require_secret(keys, NAME)
    timestamp = request.header(TIMESTAMP_HEADER)
    require_recent(timestamp, now=now)
    content = f"v0:{timestamp}:".encode() + request.body
    digest = hmac.new(secret.encode(), content, hashlib.sha256).hexdigest()
    require_match("signature", actual=request.header(SIGNATURE_HEADER), expected=f"v0={digest}")
