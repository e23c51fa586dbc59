"""Requests in the form API Gateway hands to the API function, for tests that call it directly."""

from __future__ import annotations

from typing import Any


def api_event(method: str, path: str, *, scope: str = "admin") -> dict[str, Any]:
    """A request that the authorizer has let in with this scope."""
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
