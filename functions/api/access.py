"""Who may come in: the bearer token, read from Secrets Manager and compared in constant time."""

from __future__ import annotations

import hmac

from aws_lambda_powertools.utilities import parameters
from duecourse import parts

CACHE_SECONDS = 300


def is_allowed(authorization: str | None) -> bool:
    """Closed where no secret is set."""
    scheme, _, given = (authorization or "").partition(" ")
    if scheme.lower() != "bearer" or not given:
        return False
    secret = parameters.get_secret(parts.settings().api_token_secret, max_age=CACHE_SECONDS)
    expected = secret if isinstance(secret, str) else ""
    return bool(expected) and hmac.compare_digest(given.strip().encode(), expected.encode())
