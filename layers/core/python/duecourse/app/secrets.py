"""Build the readers of tokens and keys, each on first use and once per container."""

from __future__ import annotations

from functools import cache

from duecourse.app import stores
from duecourse.ports.integrations import ApiTokens, Keys, NamedSecrets, RotatingKeys


@cache
def api_tokens() -> ApiTokens:
    from duecourse.adapters.aws.api_tokens import SecretApiTokens

    return SecretApiTokens(stores.settings().api_tokens_secret, stores.clock())


@cache
def chat_tokens() -> Keys:
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
def provider_keys() -> Keys:
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
