"""Headers of every response: browsers must not guess the content type nor send a referrer."""

from __future__ import annotations

SECURITY_HEADERS = {"referrer-policy": "no-referrer", "x-content-type-options": "nosniff"}
