"""One secret of Secrets Manager, read seldom and kept for a while."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, Generic, TypeVar

from duecourse.domain.errors import DuecourseError
from duecourse.domain.origin import Origin
from duecourse.ports.runtime import Clock

T = TypeVar("T")


class SecretNotReadError(DuecourseError):
    """Nobody was asked for anything yet. Its words never hold anything of the secret."""

    type = "SecretNotRead"
    code = "not_attempted"
    origin = Origin.NOT_ATTEMPTED
    cost = 0

    def __init__(self, holds: str, problem: str) -> None:
        super().__init__(f"the secret of the {holds} {problem}")


def secrets_client() -> Any:
    import boto3
    from botocore.config import Config

    config = Config(connect_timeout=1, read_timeout=3, retries={"total_max_attempts": 3})
    return boto3.client("secretsmanager", config=config)


class KeptSecret(Generic[T]):
    """Read on first use, and again after a while: it may change without a deployment. `read` makes
    something of its text, or raises; `holds` is how errors call what is in it."""

    def __init__(
        self,
        read: Callable[[Any], T],
        *,
        secret_id: str,
        holds: str,
        kept: timedelta,
        clock: Clock,
        make_client: Callable[[], Any],
    ) -> None:
        self._read = read
        self._secret_id = secret_id
        self._holds = holds
        self._kept = kept
        self._clock = clock
        self._make_client = make_client
        self._client: Any = None
        self._found: tuple[T, datetime] | None = None

    def get(self) -> T:
        """Raises SecretNotReadError, and what `read` raises."""
        now = self._clock.now()
        if self._found is None or now - self._found[1] >= self._kept:
            self._found = self._read(self._text()), now
        return self._found[0]

    def _text(self) -> Any:
        try:
            self._client = self._client or self._make_client()
            answer = self._client.get_secret_value(SecretId=self._secret_id)
        except Exception as error:
            raise SecretNotReadError(self._holds, f"cannot be read: {_named(error)}") from error
        return answer.get("SecretString")


def _named(error: Exception) -> str:
    """AWS's own word for it, such as AccessDeniedException."""
    told = getattr(error, "response", None)
    code = told.get("Error", {}).get("Code") if isinstance(told, dict) else None
    return str(code or type(error).__name__)
