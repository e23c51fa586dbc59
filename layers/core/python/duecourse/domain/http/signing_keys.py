"""The keys that sign a webhook to one host, as the stack's signing secret says."""

from __future__ import annotations

from duecourse.domain.access.key_rotation import KeyOrKeys, list_keys
from duecourse.domain.http.signature import decode_secret, derive_host_key

SECRET_NAME = "webhook_signing"  # noqa: S105 - what the secret is called
SHARED_SECRET_NAME = "webhook_signing_shared"  # noqa: S105 - what the secret is called


def host_keys(secrets: KeyOrKeys | None, host: str) -> list[bytes]:
    """Return the host's keys: one of each secret, of which there are two during a rotation."""
    return [derive_host_key(secret, host) for secret in list_keys(secrets)]


def signing_keys(secrets: KeyOrKeys | None, shared: KeyOrKeys | None, host: str) -> list[bytes]:
    """Return the keys that sign a request to `host`, those of the host first.

    `shared` are keys that all receivers have, as before each host had its own. If it is not set,
    the secrets themselves count as shared, so that receivers from before keep working.
    """
    former = list_keys(secrets if shared is None else shared)
    return [*host_keys(secrets, host), *map(decode_secret, former)]
