"""What every answer tells a browser: take it for what it says it is, and tell nobody of it."""

from __future__ import annotations

SECURITY_HEADERS = {"referrer-policy": "no-referrer", "x-content-type-options": "nosniff"}
