"""The secrets of Secrets Manager that tasks may name, each read on first use."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta
from typing import Any

from duecourse.adapters.aws.cached_secret import CachedSecret, SecretUnreadableError, secrets_client
from duecourse.domain.errors import NotConfiguredError
from duecourse.domain.requests.header_secret import arns_by_name
from duecourse.ports.runtime import Clock

CACHE_TTL = timedelta(minutes=5)
_LABEL = "header value {}"


class NamedSecretReader:
    """Reads the secrets in `arns` by their names, and no others."""

    def __init__(
        self,
        arns: Iterable[str],
        clock: Clock,
        *,
        make_client: Callable[[], Any] = secrets_client,
    ) -> None:
        self._secrets = {
            name: CachedSecret(
                _parse_text,
                secret_id=arn,
                label=_LABEL.format(name),
                ttl=CACHE_TTL,
                clock=clock,
                make_client=make_client,
            )
            for name, arn in arns_by_name(arns).items()
        }

    def __contains__(self, name: object) -> bool:
        return name in self._secrets

    def __iter__(self) -> Iterator[str]:
        return iter(self._secrets)

    def __getitem__(self, name: str) -> str:
        """Return the secret's text. Raises NotConfiguredError if it does not exist."""
        try:
            text = self._secrets[name].get()
        except SecretUnreadableError as error:
            if error.is_missing:
                raise NotConfiguredError("secret", name) from error
            raise
        if text is None:
            raise SecretUnreadableError(_LABEL.format(name), "must be text")
        return text


def _parse_text(text: Any) -> str | None:
    return text if isinstance(text, str) else None
