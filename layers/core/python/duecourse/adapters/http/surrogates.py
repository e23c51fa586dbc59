"""Remove lone surrogates from text."""

from __future__ import annotations


def replace_surrogates(text: str) -> str:
    """Return `text` with each lone surrogate replaced by `?`, because UTF-8 cannot encode them."""
    return text.encode("utf-8", "replace").decode()
