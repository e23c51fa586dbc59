"""The keys of a task's payload that control the provider's call."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from duecourse.adapters.providers.errors import ProviderError
from duecourse.domain.limits.provider_settings import MAX_TOKENS_LIMIT, ProviderSettings
from duecourse.domain.origin import Origin
from duecourse.domain.tasks.handler import ATTEMPT_TIMEOUT
from duecourse.domain.validation.payload_keys import read_key

_MODEL_PATTERN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,199}")
_LOOPBACK_URL_PATTERN = re.compile(
    r"https?://(?:127\.0\.0\.1|localhost|\[::1\])(?::[0-9]{1,5})?(?:/[\w.-]{1,100}){0,8}"
)

OPTION_KEYS = ("model", "endpoint", "max_tokens", "timeout")


@dataclass(frozen=True, kw_only=True)
class Options:
    """One field per key in OPTION_KEYS. The provider ignores other keys of the payload."""

    model: str
    endpoint: str | None
    max_tokens: int
    timeout: timedelta


def read_options(
    payload: Mapping[str, Any], settings: ProviderSettings, *, is_loopback_allowed: bool = False
) -> Options:
    """Return the options. Raises ValueError naming the invalid key."""

    def endpoint(value: Any) -> str:
        return _parse_endpoint(value, settings, is_loopback_allowed=is_loopback_allowed)

    return Options(
        model=read_key(payload, "model", _parse_model, settings.model),
        endpoint=read_key(payload, "endpoint", endpoint, settings.endpoint),
        max_tokens=read_key(payload, "max_tokens", _parse_max_tokens, settings.max_tokens),
        timeout=read_key(payload, "timeout", _parse_timeout, ATTEMPT_TIMEOUT),
    )


def read_options_at_run(
    payload: Mapping[str, Any], settings: ProviderSettings, *, is_loopback_allowed: bool = False
) -> Options:
    """Read the options again when the task runs, because the settings may have changed since.

    Raises ProviderError.
    """
    try:
        return read_options(payload, settings, is_loopback_allowed=is_loopback_allowed)
    except ValueError as error:
        raise ProviderError(
            f"bad request, nothing was sent: {error}", type="BadPayload", code="bad_payload", cost=0
        ) from None


def remaining_time(options: Options, *, deadline: datetime, now: datetime) -> timedelta:
    """Return the time for the call.

    Raises ProviderError if none is left, which is not a failure of the provider.
    """
    left = min(options.timeout, deadline - now)
    if left <= timedelta():
        raise ProviderError(
            "no time was left to call the provider: nothing was sent",
            type="NotSent",
            code="ETIMEDOUT",
            cost=0,
            model=options.model,
            origin=Origin.NOT_ATTEMPTED,
        )
    return left


def _parse_model(value: Any) -> str:
    if not isinstance(value, str) or not _MODEL_PATTERN.fullmatch(value):
        raise ValueError(
            "must be the name of a model: at most 200 letters, digits and . _ : / @ + -"
        )
    return value


def _parse_endpoint(value: Any, settings: ProviderSettings, *, is_loopback_allowed: bool) -> str:
    """Return the endpoint if it is configured.

    The API key goes there, so tasks cannot choose freely.
    """
    endpoint = value.removesuffix("/") if isinstance(value, str) else ""
    allowed = [url for url in (settings.endpoint, *settings.endpoints) if url]
    if endpoint in allowed or (is_loopback_allowed and _LOOPBACK_URL_PATTERN.fullmatch(endpoint)):
        return endpoint
    raise ValueError(f"must be a configured endpoint: {', '.join(allowed) or 'there is none'}")


def _parse_max_tokens(value: Any) -> int:
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    if not is_whole or not 1 <= value <= MAX_TOKENS_LIMIT:
        raise ValueError(f"must be a whole number from 1 to {MAX_TOKENS_LIMIT:,}")
    return int(value)


def _parse_timeout(value: Any) -> timedelta:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    longest = ATTEMPT_TIMEOUT.total_seconds()
    if not is_number or not 1 <= value <= longest:
        raise ValueError(f"must be a number of seconds from 1 to {longest:.0f}")
    return timedelta(seconds=value)
