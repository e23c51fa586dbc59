"""The Content-Security-Policy of our pages: they load nothing from other hosts."""

from __future__ import annotations

import base64
import hashlib
import re
from urllib.parse import urlsplit

_INLINE_ELEMENT = re.compile(r"<(script|style)>(.*?)</\1>", re.DOTALL)
_COMMON_DIRECTIVES = ("base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'")


def inline_page_csp(html: str) -> str:
    """Return the policy that allows exactly the inline scripts and styles of this page."""
    hashes: dict[str, list[str]] = {"script": [], "style": []}
    for kind, text in _INLINE_ELEMENT.findall(html):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        hashes[kind].append(f"'sha256-{digest}'")
    inline = [f"{kind}-src {' '.join(found)}" for kind, found in hashes.items() if found]
    return "; ".join(["default-src 'none'", *inline, "connect-src 'self'", *_COMMON_DIRECTIVES])


def dashboard_csp(live_url: str) -> str:
    """Return the policy for a page whose scripts and styles are files beside it.

    It may connect to `live_url`. If that has no host it is our own, which 'self' covers for
    WebSockets as well.
    """
    url = urlsplit(live_url)
    live_origin = f" {url.scheme}://{url.netloc}" if url.netloc else ""
    directives = [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        f"connect-src 'self'{live_origin}",
        *_COMMON_DIRECTIVES,
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    ]
    return "; ".join(directives)
