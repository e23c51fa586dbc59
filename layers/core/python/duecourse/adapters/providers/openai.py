"""OpenAI's Chat Completions API, and compatible endpoints."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, ClassVar

from duecourse.adapters.http.json_response import name_at, text_at, value_at
from duecourse.adapters.providers.completion import Completion, FinishReason, tokens_at
from duecourse.adapters.providers.http_provider import HttpProvider, HttpRequest
from duecourse.adapters.providers.options import Options
from duecourse.adapters.providers.prompt import user_prompt
from duecourse.ports.integrations import ProviderRequest

_OPENAI_URL = "https://api.openai.com/"
_FINISH_REASONS = {"content_filter": FinishReason.FILTERED, "length": FinishReason.MAX_TOKENS}


class OpenAiProvider(HttpProvider):
    name: ClassVar[str] = "openai"

    def build_request(self, request: ProviderRequest, options: Options, key: str) -> HttpRequest:
        body = {
            "model": options.model,
            "messages": [
                {"role": "system", "content": request.system_prompt},
                {"role": "user", "content": user_prompt(request)},
            ],
            _max_tokens_field(options): options.max_tokens,
        }
        return HttpRequest(
            path="/chat/completions",
            headers={
                "Authorization": f"Bearer {key}",
                "Idempotency-Key": _idempotency_key(request, body),
            },
            body=body,
        )

    def parse_completion(self, body: Mapping[str, Any]) -> Completion | None:
        message = value_at(body, "choices", 0, "message")
        if not isinstance(message, Mapping):
            return None
        finish_reason = _FINISH_REASONS.get(
            text_at(body, "choices", 0, "finish_reason"), FinishReason.COMPLETE
        )
        return Completion(
            text=text_at(message, "content"),
            finish_reason=FinishReason.FILTERED if text_at(message, "refusal") else finish_reason,
            model=name_at(body, "model"),
            input_tokens=tokens_at(body, "usage", "prompt_tokens"),
            output_tokens=tokens_at(body, "usage", "completion_tokens"),
        )


def _idempotency_key(request: ProviderRequest, body: Mapping[str, Any]) -> str:
    """Return one key per prompt: guidance after a failure makes it a different prompt."""
    digest = hashlib.sha256(json.dumps(body).encode()).hexdigest()
    return f"{request.idempotency_key}-{digest[:8]}"


def _max_tokens_field(options: Options) -> str:
    """Return the field's name. OpenAI's newer models reject the old name; others know only that."""
    is_own = f"{options.endpoint}/".startswith(_OPENAI_URL)
    return "max_completion_tokens" if is_own else "max_tokens"
