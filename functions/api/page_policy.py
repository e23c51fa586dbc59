"""What a page of ours may load: itself, and nothing from any other place."""

from __future__ import annotations

import base64
import hashlib
import re

SAFE_HEADERS = {
    "cache-control": "private, max-age=60",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}
_INLINE = re.compile(r"<(script|style)>(.*?)</\1>", re.DOTALL)


def policy_of(html: str) -> str:
    """The Content-Security-Policy that lets run what stands in this page, to the letter."""
    hashes: dict[str, list[str]] = {"script": [], "style": []}
    for kind, text in _INLINE.findall(html):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        hashes[kind].append(f"'sha256-{digest}'")
    inline = [f"{kind}-src {' '.join(found)}" for kind, found in hashes.items() if found]
    fixed = ["connect-src 'self'", "base-uri 'none'", "form-action 'none'"]
    return "; ".join(["default-src 'none'", *inline, *fixed, "frame-ancestors 'none'"])
