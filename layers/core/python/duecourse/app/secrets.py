"""Build the readers of tokens and keys, each on first use and once per container."""

from __future__ import annotations

from datetime import timedelta
from functools import cache
from typing import TYPE_CHECKING

from duecourse.app import stores

if TYPE_CHECKING:
    from duecourse.ports.integrations import (
        ApiTokens,
        NamedSecrets,
        RotatingKeys,
        TokenList,
        TokenSource,
    )


@cache
def api_tokens() -> ApiTokens:
    from duecourse.adapters.aws.api_tokens import SecretApiTokens

    return SecretApiTokens(stores.settings().api_tokens_secret, stores.clock())


@cache
def token_list() -> TokenList:
    """Return all tokens, for warnings: read once an hour, because every read costs."""
    from duecourse.adapters.aws.api_tokens import SecretApiTokens

    secret = stores.settings().api_tokens_secret
    return SecretApiTokens(secret, stores.clock(), ttl=timedelta(hours=1))


@cache
def chat_tokens() -> TokenSource:
    """Return the tokens for sending, by platform."""
    from duecourse.adapters.aws.secret_keys import SecretKeys

    return SecretKeys(stores.settings().chat_tokens_secret, stores.clock(), label="chat tokens")


@cache
def chat_verification_keys() -> RotatingKeys:
    """Return the keys that verify incoming requests, by platform.

    It may also hold our bot's name at Telegram, as `telegram_bot_name`.
    """
    from duecourse.adapters.aws.secret_keys import RotatingSecretKeys

    return RotatingSecretKeys(
        stores.settings().chat_verification_secret, stores.clock(), label="chat verification keys"
    )


@cache
def provider_keys() -> TokenSource:
    from duecourse.adapters.aws.secret_keys import SecretKeys

    return SecretKeys(stores.settings().provider_keys_secret, stores.clock())


@cache
def signing_keys() -> RotatingKeys:
    from duecourse.adapters.aws.secret_keys import RotatingSecretKeys

    return RotatingSecretKeys(
        stores.settings().webhook_signing_secret, stores.clock(), label="webhook signing keys"
    )


@cache
def header_secrets() -> NamedSecrets:
    """Return the secrets that the headers of webhooks may name. Each is read on first use."""
    from duecourse.adapters.aws.named_secrets import NamedSecretReader

    return NamedSecretReader(stores.settings().webhook_secret_arns, stores.clock())
