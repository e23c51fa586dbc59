"""The Authorization header: which secret somebody shows."""

from __future__ import annotations

import base64

# What a browser opens by itself. Nowhere else is Basic taken: a browser that was once told a
# password sends it along with requests that other sites make it send.
BROWSER_ROUTES = frozenset({"GET /docs", "GET /openapi.json"})


def extract_secret(authorization: str, *, route: str) -> str | None:
    """`route` is as API Gateway names the one it chose, whatever way the path was written."""
    scheme, _, shown = authorization.partition(" ")
    match scheme.lower():
        case "bearer":
            return shown.strip() or None
        case "basic" if route in BROWSER_ROUTES:
            return _decode_basic_password(shown.strip())
    return None


def auth_challenge(route: str) -> str:
    """What a 401 says of how to come in."""
    return 'Basic realm="duecourse"' if route in BROWSER_ROUTES else "Bearer"


def _decode_basic_password(encoded: str) -> str | None:
    try:
        decoded = base64.b64decode(encoded, validate=True).decode()
    except ValueError:
        return None
    return decoded.partition(":")[2] or None
