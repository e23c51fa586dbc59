"""Anthropic's Messages API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from duecourse.adapters.http.json_response import name_at, text_at, value_at
from duecourse.adapters.providers.completion import Completion, FinishReason, tokens_at
from duecourse.adapters.providers.http_provider import HttpProvider, HttpRequest
from duecourse.adapters.providers.options import Options
from duecourse.adapters.providers.prompt import user_prompt
from duecourse.ports.integrations import ProviderRequest

_API_VERSION = "2023-06-01"
_FINISH_REASONS = {
    "refusal": FinishReason.FILTERED,
    "max_tokens": FinishReason.MAX_TOKENS,
    "model_context_window_exceeded": FinishReason.CONTEXT_FULL,
}


class AnthropicProvider(HttpProvider):
    name: ClassVar[str] = "anthropic"

    def build_request(self, request: ProviderRequest, options: Options, key: str) -> HttpRequest:
        return HttpRequest(
            path="/v1/messages",
            headers={"x-api-key": key, "anthropic-version": _API_VERSION},
            body={
                "model": options.model,
                "system": request.system_prompt,
                "messages": [{"role": "user", "content": user_prompt(request)}],
                "max_tokens": options.max_tokens,
            },
        )

    def parse_completion(self, body: Mapping[str, Any]) -> Completion | None:
        blocks = value_at(body, "content")
        if not isinstance(blocks, list):
            return None
        return Completion(
            text="".join(text_at(block, "text") for block in blocks if _is_text(block)),
            finish_reason=_FINISH_REASONS.get(text_at(body, "stop_reason"), FinishReason.COMPLETE),
            model=name_at(body, "model"),
            input_tokens=tokens_at(body, "usage", "input_tokens"),
            output_tokens=tokens_at(body, "usage", "output_tokens"),
        )


def _is_text(block: Any) -> bool:
    return text_at(block, "type") == "text"
