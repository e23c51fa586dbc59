"""Keys and tokens from one secret of Secrets Manager: a JSON object of names and texts."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from duecourse.adapters.aws.cached_secret import KeptSecret, SecretNotReadError, secrets_client
from duecourse.ports.runtime import Clock

KEPT = timedelta(minutes=5)


class SecretKeys:
    """`holds` is how errors call what is in the secret."""

    def __init__(
        self,
        secret_id: str,
        clock: Clock,
        *,
        holds: str = "API keys",
        make_client: Callable[[], Any] = secrets_client,
    ) -> None:
        self._holds = holds
        self._keys = KeptSecret(
            self._read,
            secret_id=secret_id,
            holds=holds,
            kept=KEPT,
            clock=clock,
            make_client=make_client,
        )

    def get(self, name: str) -> str | None:
        """Raises SecretNotReadError. A key that is empty is none: its place is kept for later."""
        return self._keys.get().get(name) or None

    def _read(self, text: Any) -> Mapping[str, str]:
        try:
            keys = json.loads(text)
        except (TypeError, ValueError, RecursionError):
            keys = None
        if not isinstance(keys, dict) or not all(isinstance(key, str) for key in keys.values()):
            raise SecretNotReadError(self._holds, "must hold JSON: an object of names and texts")
        return keys
