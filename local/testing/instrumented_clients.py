"""External clients whose calls can be intercepted, so faults can be injected."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from duecourse.domain.http.exchange import HttpResponse
from duecourse.ports.integrations import HttpClient, Provider, ProviderReply, ProviderRequest

from local.runtime.call_interceptor import CallInterceptor


@dataclass(frozen=True)
class InstrumentedProvider:
    provider: Provider
    calls: CallInterceptor

    @property
    def payload_keys(self) -> Collection[str]:
        return self.provider.payload_keys

    def call(self, request: ProviderRequest) -> ProviderReply:
        with self.calls.intercept("provider.call"):
            return self.provider.call(request)

    def estimate_max_cost(self, request: ProviderRequest) -> int | None:
        return self.provider.estimate_max_cost(request)

    def check(self, payload: Mapping[str, Any]) -> None:
        self.provider.check(payload)


@dataclass(frozen=True)
class InstrumentedHttpClient:
    http_client: HttpClient
    calls: CallInterceptor

    def post(
        self, url: str, body: bytes, headers: Mapping[str, str], *, timeout: timedelta
    ) -> HttpResponse:
        with self.calls.intercept_send("http.post"):
            return self.http_client.post(url, body, headers, timeout=timeout)
