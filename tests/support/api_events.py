"""Events as API Gateway sends them, for tests that call the API function directly."""

from __future__ import annotations

from typing import Any


def api_event(method: str, path: str, *, scope: str = "admin") -> dict[str, Any]:
    """Return the event of a request that the authorizer allowed with this scope."""
    return {
        "version": "2.0",
        "routeKey": "ANY /{proxy+}",
        "rawPath": path,
        "rawQueryString": "",
        "headers": {},
        "requestContext": {
            "stage": "$default",
            "http": {"method": method, "path": path},
            "authorizer": {"lambda": {"name": "test", "scope": scope}},
        },
        "isBase64Encoded": False,
    }
