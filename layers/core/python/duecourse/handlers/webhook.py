"""Type `webhook`: one signed POST to the task's URL.

Every attempt at an occurrence sends the same `Idempotency-Key` and `webhook-id`, so a receiver that
respects them sees one effect.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from duecourse.domain.errors import DuecourseError, NotAttemptedError, NotConfiguredError
from duecourse.domain.http.exchange import (
    GATEWAY_STATUSES,
    HttpResponse,
    NoResponseError,
    NotSentError,
)
from duecourse.domain.http.signature import sign_headers
from duecourse.domain.origin import Effect
from duecourse.domain.requests.webhook_payload import KEYS, Webhook, parse_webhook, to_json_bytes
from duecourse.domain.tasks.handler import Handler, RunContext
from duecourse.domain.time.instant import to_text
from duecourse.ports.integrations import HttpClient, Keys
from duecourse.ports.runtime import Clock
from duecourse.version import __version__

SECRET_NAME = "webhook_signing"  # noqa: S105 - what the secret is called
RESULT_BODY_LIMIT = 2_000
ERROR_BODY_LIMIT = 300
_SEE_OTHER = 303  # points to the result of an accepted request


class WebhookRefusedError(DuecourseError):
    """The receiver answered with a status that is no success."""

    type = "WebhookRefused"
    code = None

    def __init__(self, host: str, response: HttpResponse) -> None:
        redirect = " (redirects are not followed)" if 300 <= response.status < 400 else ""
        body = _decode_body(response.body, ERROR_BODY_LIMIT).strip()
        super().__init__(
            f"{host} answered {response.status}{redirect}" + (f": {body}" if body else "")
        )
        self.status = response.status
        self.retry_after = response.headers.get("retry-after")
        is_unknown = response.status in (_SEE_OTHER, *GATEWAY_STATUSES)
        self.effect = Effect.UNKNOWN if is_unknown else Effect.NONE


@dataclass(frozen=True)
class WebhookHandler(Handler):
    http_client: HttpClient
    keys: Keys
    clock: Clock
    is_loopback_allowed: bool = False
    payload_keys = KEYS

    def check(self, payload: Mapping[str, Any]) -> None:
        parse_webhook(payload, is_loopback_allowed=self.is_loopback_allowed)

    def mutate(self, context: RunContext) -> dict[str, Any]:
        webhook = self._parse_payload(context)
        body = to_json_bytes(_default_body(context)) if webhook.body is None else webhook.body
        headers = self._build_headers(webhook, context, body)
        timeout = min(webhook.timeout, context.deadline - self.clock.now())
        try:
            response = self.http_client.post(webhook.url, body, headers, timeout=timeout)
        except NoResponseError as error:
            if not _is_success(error.status):
                raise
            return {"status": error.status, "body": None}  # success; only the body was lost
        if not _is_success(response.status):
            raise WebhookRefusedError(webhook.host, response)
        return {"status": response.status, "body": _decode_body(response.body, RESULT_BODY_LIMIT)}

    def _parse_payload(self, context: RunContext) -> Webhook:
        try:
            return parse_webhook(context.task.payload, is_loopback_allowed=self.is_loopback_allowed)
        except ValueError as error:
            raise NotSentError(f"the payload's {error}", code="bad_payload") from None

    def _build_headers(self, webhook: Webhook, context: RunContext, body: bytes) -> dict[str, str]:
        defaults = {"content-type": "application/json", "user-agent": f"duecourse/{__version__}"}
        signature = sign_headers(
            context.idempotency_key, body, secret=self._load_secret(), at=self.clock.now()
        )
        return {
            **defaults,
            **webhook.headers,
            "idempotency-key": context.idempotency_key,
            **signature,
        }

    def _load_secret(self) -> str:
        """Return the signing secret, or raise: nothing is sent unsigned."""
        try:
            secret = self.keys.get(SECRET_NAME)
        except Exception as error:
            raise NotAttemptedError(error) from error
        if not secret:
            raise NotConfiguredError("secret", SECRET_NAME)
        return secret


def _is_success(status: int | None) -> bool:
    return status is not None and 200 <= status < 300


def _default_body(context: RunContext) -> dict[str, Any]:
    """Return the body for a task without one. It is the same for every attempt."""
    return {
        "task_id": context.task.id,
        "description": context.task.description,
        "nominal_at": to_text(context.task.nominal_at),
    }


def _decode_body(body: bytes, limit: int) -> str:
    return body.decode("utf-8", "replace")[:limit]
