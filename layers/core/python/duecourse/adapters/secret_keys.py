"""API keys from one secret of Secrets Manager: a JSON object of names and keys."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from duecourse.adapters.kept_secret import KeptSecret
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
        self._keys = KeptSecret(
            _keys_in,
            secret_id=secret_id,
            clock=clock,
            make_client=make_client,
            kept=KEPT,
            not_read=KeysNotReadError,
        )

    def get(self, name: str) -> str | None:
        """Raises KeysNotReadError. A key that is empty is none: its place is kept for later."""
        return self._keys.get().get(name) or None


def _keys_in(text: Any) -> Mapping[str, str]:
    try:
        keys = json.loads(text)
    except (TypeError, ValueError, RecursionError):
        keys = None
    if not isinstance(keys, dict) or not all(isinstance(key, str) for key in keys.values()):
        raise KeysNotReadError('must hold JSON such as {"openai": "...", "anthropic": "..."}')
    return keys
