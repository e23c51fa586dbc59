"""Headers of every response that concern caches and encryption."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

NO_STORE = "no-store"
# Browsers heed it over https only. Subdomains are not ours: the host may be a custom domain.
HSTS = "max-age=31536000"


def add_transport_headers(response: dict[str, Any], event: Mapping[str, Any]) -> dict[str, Any]:
    """Return the response with its default cache policy and, over https, with HSTS.

    API Gateway accepts only https and says so; the local stack uses http.
    """
    headers = response.get("headers") or {}
    defaults = {"cache-control": NO_STORE}
    if (event.get("headers") or {}).get("x-forwarded-proto") == "https":
        defaults["strict-transport-security"] = HSTS
    return {**response, "headers": {**defaults, **headers}}
