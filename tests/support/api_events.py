"""Events as API Gateway sends them, for tests that call the API function directly."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode


def api_event(
    method: str, path: str, *, scope: str = "admin", query: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Return the event of a request that the authorizer allowed with this scope."""
    return {
        "version": "2.0",
        "routeKey": "ANY /{proxy+}",
        "rawPath": path,
        "rawQueryString": urlencode(query or {}),
        "queryStringParameters": dict(query or {}),
        "headers": {},
        "requestContext": {
            "stage": "$default",
            "http": {"method": method, "path": path},
            "authorizer": {"lambda": {"name": "test", "scope": scope}},
        },
        "isBase64Encoded": False,
    }
