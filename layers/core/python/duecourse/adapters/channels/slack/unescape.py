"""Convert Slack's message format back to the text that the person typed."""

from __future__ import annotations

import re

_MARKUP = re.compile(r"<([^<>|]*)(?:\|([^<>]*))?>")
# The ampersand comes last: otherwise a typed "&lt;" would be unescaped twice.
_ESCAPES = (("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"))


def unescape_text(text: str) -> str:
    plain = _MARKUP.sub(lambda match: _to_plain_text(match[1], match[2] or ""), text)
    for escape, character in _ESCAPES:
        plain = plain.replace(escape, character)
    return plain


def _to_plain_text(target: str, label: str) -> str:
    """Return mentions by their displayed name, and links with their URL."""
    if target.startswith(("@", "#")):
        return target[0] + (label.lstrip("@#") or target[1:])
    if target.startswith("!"):
        return label or f"@{target[1:]}"
    if not label or label in target:
        return label or target
    return f"{label} ({target})"
