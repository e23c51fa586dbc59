"""Requests, settings and error categories that the tests of all providers share."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from duecourse.adapters.http.client import SsrfSafeHttpClient
from duecourse.adapters.providers.errors import ProviderError
from duecourse.adapters.providers.http_provider import HttpProvider
from duecourse.adapters.providers.settings_file import read_provider_settings
from duecourse.domain.failures.classifier.engine import diagnose
from duecourse.domain.failures.failure import Failure
from duecourse.domain.limits.provider_settings import ProviderSettings
from duecourse.ports.integrations import Provider, ProviderRequest

from tests.support.builders.failures import builtin_policies
from tests.support.builders.moments import NOW
from tests.support.fakes.clock import ManualClock
from tests.support.receiver import Receiver

KEY = "qz-7Hd03kLmNo99pQr"  # a shape that no redaction pattern matches
INSTRUCTION = "End with SUCCESS or FAILURE."


class DictKeys(dict[str, str]):
    """Keys in memory."""

    def refresh(self) -> None:
        """They are never old."""


def settings_of(name: str, **changes: Any) -> ProviderSettings:
    return replace(read_provider_settings()[name], **changes)


def provider_at(
    receiver: Receiver, kind: type[HttpProvider], *, key: str = KEY, path: str = "/v1"
) -> HttpProvider:
    """Return the provider with the receiver as its API endpoint."""
    return kind(
        settings_of(kind.name, endpoint=receiver.url(path).removesuffix("/")),
        SsrfSafeHttpClient(is_loopback_allowed=True),
        DictKeys({kind.name: key}),
        ManualClock(NOW),
        is_loopback_allowed=True,
    )


def a_provider_request(
    *, seconds: float = 20, guidance: tuple[str, ...] = (), **payload: Any
) -> ProviderRequest:
    return ProviderRequest(
        description="Write three lines about tides.",
        guidance=guidance,
        system_prompt=INSTRUCTION,
        attempt=1,
        idempotency_key="occurrence-7",
        payload={"budget": "stories", "max_cost": 0.05, "spec": "tides", **payload},
        deadline=NOW + timedelta(seconds=seconds),
    )


def error_of(provider: Provider, request: ProviderRequest | None = None) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        provider.call(request or a_provider_request())
    return caught.value


def categories_of(error: Exception) -> dict[str, str]:
    """Return the category of the error by policy."""
    failure = Failure.from_exception(error, at=NOW)
    return {
        name: diagnose(failure, builtin_policies()[name]).category
        for name in ("agent", "enrichment")
    }


def encode_json(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value).encode()
