"""API keys from one secret of Secrets Manager: a JSON object of names and keys."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

from duecourse.domain.errors import DuecourseError
from duecourse.domain.origin import Origin
from duecourse.ports import Clock

KEPT = timedelta(minutes=5)


class KeysNotReadError(DuecourseError):
    """Nobody was asked for anything yet. Its words never hold anything of the secret."""

    type = "KeysNotRead"
    code = "not_attempted"
    origin = Origin.NOT_ATTEMPTED
    cost = 0

    def __init__(self, problem: str) -> None:
        super().__init__(f"the secret of the API keys {problem}")


def secrets_client() -> Any:
    import boto3
    from botocore.config import Config

    config = Config(connect_timeout=1, read_timeout=3, retries={"total_max_attempts": 3})
    return boto3.client("secretsmanager", config=config)


class SecretKeys:
    """Read on first use, and again after five minutes: a key may change without a deployment."""

    def __init__(
        self, secret_id: str, clock: Clock, make_client: Callable[[], Any] = secrets_client
    ) -> None:
        self._secret_id = secret_id
        self._clock = clock
        self._make_client = make_client
        self._client: Any = None
        self._keys: Mapping[str, str] = {}
        self._read_at: datetime | None = None

    def get(self, name: str) -> str | None:
        """Raises KeysNotReadError. A key that is empty is none: its place is kept for later."""
        now = self._clock.now()
        if self._read_at is None or now - self._read_at >= KEPT:
            self._keys = _keys_in(self._text())
            self._read_at = now
        return self._keys.get(name) or None

    def _text(self) -> Any:
        try:
            self._client = self._client or self._make_client()
            answer = self._client.get_secret_value(SecretId=self._secret_id)
        except Exception as error:
            raise KeysNotReadError(f"cannot be read: {_named(error)}") from error
        return answer.get("SecretString")


def _keys_in(text: Any) -> Mapping[str, str]:
    try:
        keys = json.loads(text)
    except (TypeError, ValueError, RecursionError):
        keys = None
    if not isinstance(keys, dict) or not all(isinstance(key, str) for key in keys.values()):
        raise KeysNotReadError('must hold JSON such as {"openai": "...", "anthropic": "..."}')
    return keys


def _named(error: Exception) -> str:
    """AWS's own word for it, such as AccessDeniedException."""
    told = getattr(error, "response", None)
    code = told.get("Error", {}).get("Code") if isinstance(told, dict) else None
    return str(code or type(error).__name__)
