"""One secret from Secrets Manager, read rarely and cached."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, Generic, TypeVar

from duecourse.domain.errors import DuecourseError
from duecourse.domain.origin import Origin
from duecourse.ports.runtime import Clock

T = TypeVar("T")
MIN_AGE = timedelta(seconds=30)
_MISSING = "ResourceNotFoundException"


class SecretUnreadableError(DuecourseError):
    """The secret could not be read, so nothing was sent. Messages never contain the secret."""

    type = "SecretNotRead"
    code = "not_attempted"
    origin = Origin.NOT_ATTEMPTED
    cost = 0

    def __init__(self, label: str, problem: str, *, is_missing: bool = False) -> None:
        super().__init__(f"the secret of the {label} {problem}")
        self.is_missing = is_missing


def secrets_client() -> Any:
    from botocore.config import Config

    from duecourse.adapters.aws.clients import make_client

    config = Config(connect_timeout=1, read_timeout=3, retries={"total_max_attempts": 3})
    return make_client("secretsmanager", config)


class CachedSecret(Generic[T]):
    """Read on first use and again after `ttl`, so a secret can change without a deployment.

    `parse` converts the secret's text or raises. `label` names the content in errors.
    """

    def __init__(
        self,
        parse: Callable[[Any], T],
        *,
        secret_id: str,
        label: str,
        ttl: timedelta,
        clock: Clock,
        make_client: Callable[[], Any],
    ) -> None:
        self._parse = parse
        self._secret_id = secret_id
        self._label = label
        self._ttl = ttl
        self._clock = clock
        self._make_client = make_client
        self._client: Any = None
        self._cached: tuple[T, datetime] | None = None

    def get(self) -> T:
        """Return the parsed secret. Raises SecretUnreadableError, and whatever `parse` raises."""
        now = self._clock.now()
        # Locally, a search for the next tick asks as if it were later.
        if self._cached is None or abs(now - self._cached[1]) >= self._ttl:
            self._cached = self._parse(self._fetch()), now
        return self._cached[0]

    def refresh(self) -> None:
        """Read the secret again on the next use, unless it was read less than MIN_AGE ago."""
        if self._cached is not None and self._clock.now() - self._cached[1] >= MIN_AGE:
            self._cached = None

    def _fetch(self) -> Any:
        try:
            self._client = self._client or self._make_client()
            answer = self._client.get_secret_value(SecretId=self._secret_id)
        except Exception as error:
            code = _error_code(error)
            raise SecretUnreadableError(
                self._label, f"cannot be read: {code}", is_missing=code == _MISSING
            ) from error
        return answer.get("SecretString")


def _error_code(error: Exception) -> str:
    """Return AWS's error code, such as AccessDeniedException."""
    response = getattr(error, "response", None)
    code = response.get("Error", {}).get("Code") if isinstance(response, dict) else None
    return str(code or type(error).__name__)
