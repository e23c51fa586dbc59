"""Text of which every character is a whole one."""

from __future__ import annotations


def replace_surrogates(text: str) -> str:
    """Half a character (a lone surrogate), which nothing could keep, becomes a question mark."""
    return text.encode("utf-8", "replace").decode()
