"""OpenAI's chat completions, or those of any endpoint that speaks as it does."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, ClassVar

from duecourse.adapters.http.json_response import at, name_at, text_at
from duecourse.adapters.providers.completion import Ending, Said, tokens_at
from duecourse.adapters.providers.http_provider import HttpProvider, Request
from duecourse.adapters.providers.options import Options
from duecourse.adapters.providers.prompt import user_text
from duecourse.ports.integrations import Ask

_OWN = "https://api.openai.com/"
_ENDINGS = {"content_filter": Ending.FILTERED, "length": Ending.CUT_OFF}


class OpenAiProvider(HttpProvider):
    name: ClassVar[str] = "openai"

    def request(self, ask: Ask, options: Options, key: str) -> Request:
        body = {
            "model": options.model,
            "messages": [
                {"role": "system", "content": ask.instruction},
                {"role": "user", "content": user_text(ask)},
            ],
            _limit_of(options): options.max_tokens,
        }
        return Request(
            path="/chat/completions",
            headers={"Authorization": f"Bearer {key}", "Idempotency-Key": _key(ask, body)},
            body=body,
        )

    def said(self, answer: Mapping[str, Any]) -> Said | None:
        message = at(answer, "choices", 0, "message")
        if not isinstance(message, Mapping):
            return None
        ending = _ENDINGS.get(text_at(answer, "choices", 0, "finish_reason"), Ending.WHOLE)
        return Said(
            text=text_at(message, "content"),
            ending=Ending.FILTERED if text_at(message, "refusal") else ending,
            model=name_at(answer, "model"),
            input_tokens=tokens_at(answer, "usage", "prompt_tokens"),
            output_tokens=tokens_at(answer, "usage", "completion_tokens"),
        )


def _key(ask: Ask, body: Mapping[str, Any]) -> str:
    """One for each question: what was learnt from a failure makes it another one."""
    asked = hashlib.sha256(json.dumps(body).encode()).hexdigest()
    return f"{ask.key}-{asked[:8]}"


def _limit_of(options: Options) -> str:
    """OpenAI's newer models refuse the old name, which is the only one that many others know."""
    is_own = f"{options.endpoint}/".startswith(_OWN)
    return "max_completion_tokens" if is_own else "max_tokens"
