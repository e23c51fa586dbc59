"""Keys and tokens from one secret in Secrets Manager: a JSON object of strings."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from duecourse.adapters.aws.cached_secret import CachedSecret, SecretUnreadableError, secrets_client
from duecourse.ports.runtime import Clock

CACHE_TTL = timedelta(minutes=5)


class SecretKeys:
    """Looks up keys by name. `label` names the secret's content in errors."""

    def __init__(
        self,
        secret_id: str,
        clock: Clock,
        *,
        label: str = "API keys",
        make_client: Callable[[], Any] = secrets_client,
    ) -> None:
        self._label = label
        self._keys = CachedSecret(
            self._parse,
            secret_id=secret_id,
            label=label,
            ttl=CACHE_TTL,
            clock=clock,
            make_client=make_client,
        )

    def get(self, name: str) -> str | None:
        """Return the key, or None if it is missing or empty. Raises SecretUnreadableError."""
        return self._keys.get().get(name) or None

    def refresh(self) -> None:
        self._keys.refresh()

    def _parse(self, text: Any) -> Mapping[str, str]:
        try:
            keys = json.loads(text)
        except (TypeError, ValueError, RecursionError):
            keys = None
        if not isinstance(keys, dict) or not all(isinstance(key, str) for key in keys.values()):
            raise SecretUnreadableError(self._label, "must hold JSON: an object of names and texts")
        return keys
