"""Type `webhook`: one signed POST to the task's URL.

Every attempt at an occurrence sends the same `Idempotency-Key` and `webhook-id`, so a receiver that
respects them sees one effect.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from duecourse.domain.access.key_rotation import list_keys
from duecourse.domain.errors import DuecourseError, NotAttemptedError, NotConfiguredError
from duecourse.domain.http.exchange import (
    GATEWAY_STATUSES,
    HttpResponse,
    NoResponseError,
    NotSentError,
)
from duecourse.domain.http.signature import sign_headers
from duecourse.domain.http.signing_keys import SECRET_NAME, SHARED_SECRET_NAME, signing_keys
from duecourse.domain.origin import Effect
from duecourse.domain.requests.echoed_secrets import redact_response
from duecourse.domain.requests.header_secret import SecretReference, parse_header_secret
from duecourse.domain.requests.webhook_payload import KEYS, Webhook, parse_webhook, to_json_bytes
from duecourse.domain.tasks.handler import Handler, RunContext
from duecourse.domain.time.instant import to_text
from duecourse.ports.integrations import HttpClient, NamedSecrets, RotatingKeys
from duecourse.ports.runtime import Clock
from duecourse.version import __version__

RESULT_BODY_LIMIT = 2_000
ERROR_BODY_LIMIT = 300
_SEE_OTHER = 303  # points to the result of an accepted request


class WebhookRefusedError(DuecourseError):
    """The receiver answered with a status that is no success."""

    type = "WebhookRefused"
    code = None

    def __init__(self, host: str, response: HttpResponse, body: str) -> None:
        """`body` is that of the response, without secrets."""
        redirect = " (redirects are not followed)" if 300 <= response.status < 400 else ""
        body = body[:ERROR_BODY_LIMIT].strip()
        super().__init__(
            f"{host} answered {response.status}{redirect}" + (f": {body}" if body else "")
        )
        self.status = response.status
        self.retry_after = response.headers.get("retry-after")
        is_unknown = response.status in (_SEE_OTHER, *GATEWAY_STATUSES)
        self.effect = Effect.UNKNOWN if is_unknown else Effect.NONE


class HeaderSecretError(DuecourseError):
    """A secret that a header names cannot be used. Nothing was sent."""

    type = "HeaderSecret"
    code = "header_secret"
    effect = Effect.NONE

    def __init__(self, name: str, problem: object) -> None:
        super().__init__(f"the secret {name} {problem}")


@dataclass(frozen=True)
class WebhookHandler(Handler):
    """`header_secrets` are the secrets that a header may name."""

    http_client: HttpClient
    keys: RotatingKeys
    clock: Clock
    is_loopback_allowed: bool = False
    header_secrets: NamedSecrets = field(default_factory=dict[str, str])
    payload_keys = KEYS

    def check(self, payload: Mapping[str, Any]) -> None:
        webhook = parse_webhook(payload, is_loopback_allowed=self.is_loopback_allowed)
        for name, value in webhook.headers.items():
            if isinstance(value, SecretReference) and value.name not in self.header_secrets:
                raise ValueError(
                    f"headers: {name} names a secret that this stack may not read; it may read: "
                    + (", ".join(sorted(self.header_secrets)) or "none")
                )

    def mutate(self, context: RunContext) -> dict[str, Any]:
        webhook = self._parse_payload(context)
        body = to_json_bytes(_default_body(context)) if webhook.body is None else webhook.body
        own_headers = {
            name: self._header_value(name, value, webhook.host)
            for name, value in webhook.headers.items()
        }
        headers = self._build_headers(webhook, own_headers, context, body)
        timeout = min(webhook.timeout, context.deadline - self.clock.now())
        try:
            response = self.http_client.post(webhook.url, body, headers, timeout=timeout)
        except NoResponseError as error:
            if not _is_success(error.status):
                raise
            return {"status": error.status, "body": None}  # success; only the body was lost
        text = redact_response(
            response.body.decode("utf-8", "replace"),
            url=webhook.url,
            headers=own_headers,
            body=context.task.payload.get("body"),
            limit=RESULT_BODY_LIMIT,
        )
        if not _is_success(response.status):
            raise WebhookRefusedError(webhook.host, response, text)
        return {"status": response.status, "body": text}

    def _parse_payload(self, context: RunContext) -> Webhook:
        try:
            return parse_webhook(context.task.payload, is_loopback_allowed=self.is_loopback_allowed)
        except ValueError as error:
            raise NotSentError(f"the payload's {error}", code="bad_payload") from None

    def _header_value(self, header: str, value: str | SecretReference, host: str) -> str:
        if isinstance(value, str):
            return value
        if value.name not in self.header_secrets:
            raise HeaderSecretError(value.name, "is not among those that this stack may read")
        text = self.header_secrets[value.name]
        try:
            return parse_header_secret(text, header=header, host=host)
        except ValueError as error:
            raise HeaderSecretError(value.name, error) from None

    def _build_headers(
        self, webhook: Webhook, own: Mapping[str, str], context: RunContext, body: bytes
    ) -> dict[str, str]:
        defaults = {"content-type": "application/json", "user-agent": f"duecourse/{__version__}"}
        signature = sign_headers(
            context.idempotency_key,
            body,
            keys=self._load_signing_keys(webhook.host),
            at=self.clock.now(),
        )
        return {**defaults, **own, "idempotency-key": context.idempotency_key, **signature}

    def _load_signing_keys(self, host: str) -> list[bytes]:
        """Return the keys that sign a request to `host`, or raise: nothing is sent unsigned."""
        try:
            secrets, shared = self.keys.get(SECRET_NAME), self.keys.get(SHARED_SECRET_NAME)
        except Exception as error:
            raise NotAttemptedError(error) from error
        if not list_keys(secrets):
            raise NotConfiguredError("secret", SECRET_NAME)
        return signing_keys(secrets, shared, host)


def _is_success(status: int | None) -> bool:
    return status is not None and 200 <= status < 300


def _default_body(context: RunContext) -> dict[str, Any]:
    """Return the body for a task without one. It is the same for every attempt."""
    return {
        "task_id": context.task.id,
        "description": context.task.description,
        "nominal_at": to_text(context.task.nominal_at),
    }
