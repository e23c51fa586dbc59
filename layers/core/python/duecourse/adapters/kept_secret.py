"""One secret of Secrets Manager, read seldom and kept for a while."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, Generic, TypeVar

from duecourse.ports import Clock

T = TypeVar("T")


class KeptSecret(Generic[T]):
    """Read on first use, and again after a while: it may change without a deployment. `read` makes
    something of its text, or raises; what cannot be read at all is told by `not_read`."""

    def __init__(
        self,
        read: Callable[[Any], T],
        *,
        secret_id: str,
        clock: Clock,
        make_client: Callable[[], Any],
        kept: timedelta,
        not_read: Callable[[str], Exception],
    ) -> None:
        self._read = read
        self._secret_id = secret_id
        self._clock = clock
        self._make_client = make_client
        self._kept = kept
        self._not_read = not_read
        self._client: Any = None
        self._found: tuple[T, datetime] | None = None

    def get(self) -> T:
        now = self._clock.now()
        if self._found is None or now - self._found[1] >= self._kept:
            self._found = self._read(self._text()), now
        return self._found[0]

    def _text(self) -> Any:
        try:
            self._client = self._client or self._make_client()
            answer = self._client.get_secret_value(SecretId=self._secret_id)
        except Exception as error:
            raise self._not_read(f"cannot be read: {_named(error)}") from error
        return answer.get("SecretString")


def _named(error: Exception) -> str:
    """AWS's own word for it, such as AccessDeniedException."""
    told = getattr(error, "response", None)
    code = told.get("Error", {}).get("Code") if isinstance(told, dict) else None
    return str(code or type(error).__name__)
