"""A webhook: one signed POST to where the task says.

The key of the occurrence goes along as `Idempotency-Key` and as `webhook-id`: a receiver that keeps
to it sees one effect, however often it is told.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from duecourse import __version__
from duecourse.domain.errors import DuecourseError, NotAttemptedError, NotSetUpError
from duecourse.domain.http.exchange import Answer, NoAnswerError, NotSentError
from duecourse.domain.http.signature import signed_headers
from duecourse.domain.origin import Effect
from duecourse.domain.requests.webhook_payload import KEYS, Webhook, as_json, read_webhook
from duecourse.domain.tasks.handler import Handler, Work
from duecourse.domain.time.instant import to_text
from duecourse.ports.integrations import Keys, Poster
from duecourse.ports.runtime import Clock

SECRET_NAME = "webhook_signing"  # noqa: S105 - what the secret is called
BODY_KEPT = 2_000
BODY_TOLD = 300
# Said by a gateway that passed the request on and heard nothing sensible back: whoever was behind
# it may have done the work. Every other status is the receiver's own word that it did not (408: it
# never had the whole request; 503: it did not begin). 520 and 524 are Cloudflare's. 303 points to
# what came of the request, which was taken.
_LEAVES_IT_OPEN = frozenset({303, 502, 504, 520, 524})


class WebhookRefusedError(DuecourseError):
    """The receiver answered, and what it said is not success."""

    type = "WebhookRefused"
    code = None

    def __init__(self, host: str, answer: Answer) -> None:
        redirect = " (redirects are not followed)" if 300 <= answer.status < 400 else ""
        told = _text(answer.body, BODY_TOLD).strip()
        super().__init__(
            f"{host} answered {answer.status}{redirect}" + (f": {told}" if told else "")
        )
        self.status = answer.status
        self.retry_after = answer.headers.get("retry-after")
        is_open = answer.status in _LEAVES_IT_OPEN
        self.effect = Effect.UNKNOWN if is_open else Effect.NONE


@dataclass(frozen=True)
class WebhookHandler(Handler):
    poster: Poster
    keys: Keys
    clock: Clock
    loopback_allowed: bool = False
    payload_keys = KEYS

    def check(self, payload: Mapping[str, Any]) -> None:
        read_webhook(payload, loopback_allowed=self.loopback_allowed)

    def mutate(self, work: Work) -> dict[str, Any]:
        webhook = self._read(work)
        body = as_json(_about(work)) if webhook.body is None else webhook.body
        headers = self._headers(webhook, work, body)
        timeout = min(webhook.timeout, work.deadline - self.clock.now())
        try:
            answer = self.poster.post(webhook.url, body, headers, timeout=timeout)
        except NoAnswerError as error:
            if not _is_success(error.status):
                raise
            return {"status": error.status, "body": None}  # it said yes; the rest is missing
        if not _is_success(answer.status):
            raise WebhookRefusedError(webhook.host, answer)
        return {"status": answer.status, "body": _text(answer.body, BODY_KEPT)}

    def _read(self, work: Work) -> Webhook:
        try:
            return read_webhook(work.task.payload, loopback_allowed=self.loopback_allowed)
        except ValueError as error:
            raise NotSentError(f"the payload's {error}", code="bad_payload") from None

    def _headers(self, webhook: Webhook, work: Work, body: bytes) -> dict[str, str]:
        usual = {"content-type": "application/json", "user-agent": f"duecourse/{__version__}"}
        signed = signed_headers(work.key, body, secret=self._secret(), at=self.clock.now())
        return {**usual, **webhook.headers, "idempotency-key": work.key, **signed}

    def _secret(self) -> str:
        """Nothing goes out unsigned."""
        try:
            secret = self.keys.get(SECRET_NAME)
        except Exception as error:
            raise NotAttemptedError(error) from error
        if not secret:
            raise NotSetUpError("secret", SECRET_NAME)
        return secret


def _is_success(status: int | None) -> bool:
    return status is not None and 200 <= status < 300


def _about(work: Work) -> dict[str, Any]:
    """What is sent where the task does not say: under one key, the same every time."""
    return {
        "task_id": work.task.id,
        "description": work.task.description,
        "nominal_at": to_text(work.task.nominal_at),
    }


def _text(body: bytes, limit: int) -> str:
    return body.decode("utf-8", "replace")[:limit]
