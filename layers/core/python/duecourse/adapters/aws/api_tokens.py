"""API tokens from one secret in Secrets Manager."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

from duecourse.adapters.aws.cached_secret import CachedSecret, secrets_client
from duecourse.domain.access.tokens import ApiToken, find_token, find_token_by_hash, parse_tokens
from duecourse.ports.runtime import Clock

# API Gateway caches the authorizer's result for another 30 seconds
CACHE_TTL = timedelta(seconds=30)


class SecretApiTokens:
    """Finds API tokens. A removed token stops working after a minute at the latest."""

    def __init__(
        self,
        secret_id: str,
        clock: Clock,
        *,
        ttl: timedelta = CACHE_TTL,
        make_client: Callable[[], Any] = secrets_client,
    ) -> None:
        self._clock = clock
        self._tokens = CachedSecret(
            parse_tokens,
            secret_id=secret_id,
            label="API tokens",
            ttl=ttl,
            clock=clock,
            make_client=make_client,
        )

    def find(self, secret: str) -> ApiToken | None:
        return find_token(self._tokens.get(), secret, now=self._clock.now())

    def find_by_hash(self, sha256: str) -> ApiToken | None:
        return find_token_by_hash(self._tokens.get(), sha256, now=self._clock.now())

    def list_all(self) -> Sequence[ApiToken]:
        return self._tokens.get()
