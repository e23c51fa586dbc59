"""Verify Telegram's secret token, which it repeats in a header of every update."""

from __future__ import annotations

from duecourse.adapters.channels.telegram import NAME
from duecourse.adapters.channels.verification import require_match, require_secrets
from duecourse.adapters.http.raw_request import RawRequest
from duecourse.ports.integrations import RotatingKeys

SECRET_TOKEN_HEADER = "x-telegram-bot-api-secret-token"  # noqa: S105 - the name of a header


def verify_secret_token(request: RawRequest, keys: RotatingKeys) -> None:
    """Raise NotVerifiedError unless the request carries a token set with the webhook."""
    expected = require_secrets(keys, NAME)
    require_match("secret token", actual=request.header(SECRET_TOKEN_HEADER), expected=expected)
