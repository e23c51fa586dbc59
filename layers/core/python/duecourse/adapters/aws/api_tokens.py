"""API tokens from one secret of Secrets Manager."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from duecourse.adapters.aws.cached_secret import KeptSecret, secrets_client
from duecourse.domain.access.tokens import ApiToken, find_token, token_hashed, tokens_from
from duecourse.ports.runtime import Clock

KEPT = timedelta(seconds=30)  # API Gateway keeps an answer as long again


class SecretApiTokens:
    """A token that was removed is refused a minute later at most."""

    def __init__(
        self, secret_id: str, clock: Clock, *, make_client: Callable[[], Any] = secrets_client
    ) -> None:
        self._clock = clock
        self._tokens = KeptSecret(
            tokens_from,
            secret_id=secret_id,
            holds="API tokens",
            kept=KEPT,
            clock=clock,
            make_client=make_client,
        )

    def find(self, secret: str) -> ApiToken | None:
        return find_token(self._tokens.get(), secret, now=self._clock.now())

    def hashed(self, sha256: str) -> ApiToken | None:
        return token_hashed(self._tokens.get(), sha256, now=self._clock.now())
