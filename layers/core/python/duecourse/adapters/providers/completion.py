"""Convert a provider's completion to a reply, or raise the error it stands for."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from duecourse.adapters.http.json_response import value_at
from duecourse.adapters.providers.errors import ProviderError
from duecourse.adapters.providers.options import Options
from duecourse.domain.limits.provider_settings import ProviderSettings
from duecourse.domain.origin import Origin
from duecourse.ports.integrations import ProviderReply

_MAX_TOKENS = 10**9


class FinishReason(Enum):
    COMPLETE = auto()
    FILTERED = auto()
    MAX_TOKENS = auto()  # the limit of `max_tokens`
    CONTEXT_FULL = auto()  # the limit of the model


@dataclass(frozen=True, kw_only=True)
class Completion:
    """A response in a form common to all APIs. Token counts are None if it has none."""

    text: str
    finish_reason: FinishReason = FinishReason.COMPLETE
    model: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None


def to_reply(
    provider: str, completion: Completion, options: Options, settings: ProviderSettings
) -> ProviderReply:
    """Return the reply. Raises ProviderError, with the cost, if the completion is not usable."""
    model = completion.model or options.model
    cost = _cost_of(completion, options, settings)
    if completion.finish_reason is FinishReason.COMPLETE and completion.text.strip():
        return ProviderReply(completion.text, cost, model)
    message, kind, code = _describe_problem(provider, completion, options)
    raise ProviderError(message, type=kind, code=code, cost=cost, model=model, origin=Origin.ANSWER)


def tokens_at(value: Any, *path: str | int) -> int | None:
    found = value_at(value, *path)
    is_count = isinstance(found, int) and not isinstance(found, bool)
    return found if is_count and 0 <= found <= _MAX_TOKENS else None


def _cost_of(completion: Completion, options: Options, settings: ProviderSettings) -> int | None:
    if completion.input_tokens is None or completion.output_tokens is None:
        return None
    for model in (completion.model, options.model):
        cost = settings.cost_of(model or "", completion.input_tokens, completion.output_tokens)
        if cost is not None:
            return cost
    return None


def _describe_problem(
    provider: str, completion: Completion, options: Options
) -> tuple[str, str | None, str]:
    """Return message, type and code."""
    if completion.finish_reason is FinishReason.FILTERED:
        return f"{provider} denied the reply: content filter", "ContentFilter", "content_filter"
    truncated = f"{provider} truncated its reply, so its last line cannot be trusted"
    if completion.finish_reason is FinishReason.MAX_TOKENS:
        return f"{truncated}: max_tokens ({options.max_tokens:,}) was reached", None, "max_tokens"
    if completion.finish_reason is FinishReason.CONTEXT_FULL:
        return (
            f"{truncated}: the model's context window was used up",
            None,
            "context_window_exceeded",
        )
    return f"{provider} returned an empty answer", None, "empty_answer"
