"""Anthropic's messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from duecourse.adapters.http.json_response import at, name_at, text_at
from duecourse.adapters.providers.completion import Ending, Said, tokens_at
from duecourse.adapters.providers.http_provider import HttpProvider, Request
from duecourse.adapters.providers.options import Options
from duecourse.adapters.providers.prompt import user_text
from duecourse.ports.integrations import Ask

_VERSION = "2023-06-01"
_ENDINGS = {
    "refusal": Ending.FILTERED,
    "max_tokens": Ending.CUT_OFF,
    "model_context_window_exceeded": Ending.FULL,
}


class AnthropicProvider(HttpProvider):
    name: ClassVar[str] = "anthropic"

    def request(self, ask: Ask, options: Options, key: str) -> Request:
        return Request(
            path="/v1/messages",
            headers={"x-api-key": key, "anthropic-version": _VERSION},
            body={
                "model": options.model,
                "system": ask.instruction,
                "messages": [{"role": "user", "content": user_text(ask)}],
                "max_tokens": options.max_tokens,
            },
        )

    def said(self, answer: Mapping[str, Any]) -> Said | None:
        blocks = at(answer, "content")
        if not isinstance(blocks, list):
            return None
        return Said(
            text="".join(text_at(block, "text") for block in blocks if _is_text(block)),
            ending=_ENDINGS.get(text_at(answer, "stop_reason"), Ending.WHOLE),
            model=name_at(answer, "model"),
            input_tokens=tokens_at(answer, "usage", "input_tokens"),
            output_tokens=tokens_at(answer, "usage", "output_tokens"),
        )


def _is_text(block: Any) -> bool:
    return text_at(block, "type") == "text"
