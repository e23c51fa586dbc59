"""Keys and tokens from one secret in Secrets Manager: a JSON object of strings."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, Generic, TypeVar

from duecourse.adapters.aws.cached_secret import CachedSecret, SecretUnreadableError, secrets_client
from duecourse.domain.access.key_rotation import KeyOrKeys
from duecourse.ports.runtime import Clock

CACHE_TTL = timedelta(minutes=5)
Key = TypeVar("Key")


class _KeyObject(Generic[Key]):
    """Looks up keys by name. `label` names the secret's content in errors."""

    values = "texts"

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

    def get(self, name: str) -> Key | None:
        """Return the key, or None if it is missing or empty. Raises SecretUnreadableError."""
        return self._keys.get().get(name) or None

    def refresh(self) -> None:
        self._keys.refresh()

    def _parse(self, text: Any) -> Mapping[str, Key]:
        try:
            keys = json.loads(text)
        except (TypeError, ValueError, RecursionError):
            keys = None
        if not isinstance(keys, dict) or not all(map(self._is_key, keys.values())):
            raise SecretUnreadableError(
                self._label, f"must hold JSON: an object of names and {self.values}"
            )
        return keys

    def _is_key(self, value: Any) -> bool:
        return isinstance(value, str)


class SecretKeys(_KeyObject[str]):
    """Each name has one key."""


class RotatingSecretKeys(_KeyObject[KeyOrKeys]):
    """Each name has one key, or a list of them while it is being replaced."""

    values = "texts or lists of texts"

    def _is_key(self, value: Any) -> bool:
        is_list = isinstance(value, list) and all(isinstance(key, str) for key in value)
        return is_list or super()._is_key(value)

    def get(self, name: str) -> KeyOrKeys | None:
        """Return the key or keys. A missing name is None, but an empty text stays one."""
        return self._keys.get().get(name)
