"""Keys that are replaced without an interruption: during the change, the old and the new count."""

from __future__ import annotations

from collections.abc import Sequence

KeyOrKeys = str | Sequence[str]


def list_keys(keys: KeyOrKeys | None) -> list[str]:
    """Return one key or several as a list, without empty ones. The first is the newest."""
    found = [keys] if isinstance(keys, str) else keys or []
    # Pasted secrets often end with a line break.
    return [key.strip() for key in found if key.strip()]
