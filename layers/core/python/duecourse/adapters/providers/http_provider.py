"""Base of providers that are called by one POST of JSON. Subclasses build and parse it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, ClassVar

from duecourse.adapters.http.json_response import parse_object_or_none
from duecourse.adapters.providers.completion import Completion, to_reply
from duecourse.adapters.providers.error_responses import error_from_response, is_error_response
from duecourse.adapters.providers.errors import InvalidResponseError, MissingKeyError, ProviderError
from duecourse.adapters.providers.options import (
    OPTION_KEYS,
    Options,
    read_options,
    read_options_at_run,
    remaining_time,
)
from duecourse.adapters.providers.prompt import max_input_tokens
from duecourse.domain.http.exchange import HttpResponse, NoResponseError, NotSentError
from duecourse.domain.limits.provider_settings import ProviderSettings
from duecourse.ports.integrations import HttpClient, ProviderReply, ProviderRequest, TokenSource
from duecourse.ports.runtime import Clock

_KEY_PATTERN = re.compile(r"[!-~]{1,4096}")
_MIN_SECRET_LENGTH = 8
_KEY_REFUSED = 401


@dataclass(frozen=True)
class HttpRequest:
    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]


class HttpProvider:
    name: ClassVar[str]
    payload_keys = OPTION_KEYS

    def __init__(
        self,
        settings: ProviderSettings,
        http_client: HttpClient,
        keys: TokenSource,
        clock: Clock,
        *,
        is_loopback_allowed: bool = False,
    ) -> None:
        self._settings = settings
        self._http_client = http_client
        self._keys = keys
        self._clock = clock
        self._is_loopback_allowed = is_loopback_allowed

    def check(self, payload: Mapping[str, Any]) -> None:
        read_options(payload, self._settings, is_loopback_allowed=self._is_loopback_allowed)

    def estimate_max_cost(self, request: ProviderRequest) -> int | None:
        options = read_options_at_run(
            request.payload, self._settings, is_loopback_allowed=self._is_loopback_allowed
        )
        tokens = max_input_tokens(request)
        return self._settings.cost_of(options.model, tokens, options.max_tokens)

    def call(self, request: ProviderRequest) -> ProviderReply:
        options = read_options_at_run(
            request.payload, self._settings, is_loopback_allowed=self._is_loopback_allowed
        )
        key = self._load_key()
        response = self._send(request, options, key)
        if response.status == _KEY_REFUSED and (renewed := self._load_renewed_key(key)):
            response = self._send(request, options, renewed)
        if is_error_response(response):
            now = self._clock.now()
            raise error_from_response(self.name, response, model=options.model, now=now)
        completion = self._read_completion(response, options)
        return to_reply(self.name, completion, options, self._settings)

    def build_request(self, request: ProviderRequest, options: Options, key: str) -> HttpRequest:
        raise NotImplementedError

    def parse_completion(self, body: Mapping[str, Any]) -> Completion | None:
        """Return the completion, or None if the response has another format."""
        raise NotImplementedError

    def _read_completion(self, response: HttpResponse, options: Options) -> Completion:
        body = parse_object_or_none(response.body)
        if body is None:
            raise InvalidResponseError(self.name, "no JSON object", model=options.model)
        completion = self.parse_completion(body)
        if completion is None:
            raise InvalidResponseError(self.name, "an unexpected format", model=options.model)
        return completion

    def _load_key(self) -> str:
        # Pasted secrets often end with a line break.
        key = (self._keys.get(self.name) or "").strip()
        if not key:
            self._keys.refresh()
            raise MissingKeyError(f"no API key is configured for {self.name}")
        if not _KEY_PATTERN.fullmatch(key):
            raise MissingKeyError(f"the stored API key for {self.name} has invalid characters")
        return key

    def _load_renewed_key(self, refused: str) -> str | None:
        """Return the stored key if somebody replaced the one that was refused, else None."""
        self._keys.refresh()
        key = self._load_key()
        return key if key != refused else None

    def _send(self, request: ProviderRequest, options: Options, key: str) -> HttpResponse:
        left = remaining_time(options, deadline=request.deadline, now=self._clock.now())
        http_request = self.build_request(request, options, key)
        return _redact(key, self._post(http_request, options, left))

    def _post(self, request: HttpRequest, options: Options, timeout: timedelta) -> HttpResponse:
        headers = {"Content-Type": "application/json", **request.headers}
        body = json.dumps(request.body).encode()
        try:
            return self._http_client.post(
                f"{options.endpoint}{request.path}", body, headers, timeout=timeout
            )
        except NotSentError as error:
            raise _error_from_transport(
                f"{self.name} was not called", error, options, cost=0
            ) from error
        except NoResponseError as error:
            raise _error_from_transport(
                f"connection to {self.name} lost", error, options
            ) from error


def _error_from_transport(
    summary: str,
    error: NotSentError | NoResponseError,
    options: Options,
    *,
    cost: int | None = None,
) -> ProviderError:
    """Return a ProviderError. Even a call that may have arrived has failed; the policy decides."""
    return ProviderError(
        f"{summary}: {error}", type=error.type, code=error.code, cost=cost, model=options.model
    )


def _redact(key: str, response: HttpResponse) -> HttpResponse:
    """Return the response without the key, which errors and even replies may quote."""
    if len(key) < _MIN_SECRET_LENGTH:
        return response
    body = response.body.replace(key.encode(), b"[redacted]")
    return HttpResponse(response.status, response.headers, body)
