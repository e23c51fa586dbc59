"""Reads the secret from an Authorization header."""

from __future__ import annotations

import base64

# Pages that people open in a browser. Basic is rejected elsewhere: a browser also sends a stored
# password with requests that other sites trigger.
BROWSER_ROUTES = frozenset({"GET /docs", "GET /openapi.json"})


def extract_secret(authorization: str, *, route: str) -> str | None:
    """Return the token or Basic password, or None if the header has none that is accepted.

    `route` is API Gateway's name of the matched route, not the path from the request.
    """
    scheme, _, credentials = authorization.partition(" ")
    match scheme.lower():
        case "bearer":
            return credentials.strip() or None
        case "basic" if route in BROWSER_ROUTES:
            return _decode_basic_password(credentials.strip())
    return None


def auth_challenge(route: str) -> str:
    """Return the WWW-Authenticate header of a 401 response."""
    return 'Basic realm="duecourse"' if route in BROWSER_ROUTES else "Bearer"


def _decode_basic_password(encoded: str) -> str | None:
    try:
        decoded = base64.b64decode(encoded, validate=True).decode()
    except ValueError:
        return None
    return decoded.partition(":")[2] or None
