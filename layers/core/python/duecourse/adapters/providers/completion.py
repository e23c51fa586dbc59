"""From what a provider said to a reply, or to the error that it is."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from duecourse.adapters.http.json_response import at
from duecourse.adapters.providers.errors import ProviderError
from duecourse.adapters.providers.options import Options
from duecourse.domain.limits.provider_settings import ProviderSettings
from duecourse.domain.origin import Origin
from duecourse.ports.integrations import Reply

_MOST_TOKENS = 10**9


class Ending(Enum):
    WHOLE = auto()
    FILTERED = auto()
    CUT_OFF = auto()  # by max_tokens
    FULL = auto()  # the model's context is


@dataclass(frozen=True, kw_only=True)
class Said:
    """An answer in the words of no API. Tokens are None where it does not count them."""

    text: str
    ending: Ending = Ending.WHOLE
    model: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None


def reply_to(provider: str, said: Said, options: Options, settings: ProviderSettings) -> Reply:
    """Raises ProviderError, with the cost, for an answer that is of no use."""
    model = said.model or options.model
    cost = _cost_of(said, options, settings)
    if said.ending is Ending.WHOLE and said.text.strip():
        return Reply(said.text, cost, model)
    message, kind, code = _problem(provider, said, options)
    raise ProviderError(message, type=kind, code=code, cost=cost, model=model, origin=Origin.ANSWER)


def tokens_at(value: Any, *path: str | int) -> int | None:
    found = at(value, *path)
    is_count = isinstance(found, int) and not isinstance(found, bool)
    return found if is_count and 0 <= found <= _MOST_TOKENS else None


def _cost_of(said: Said, options: Options, settings: ProviderSettings) -> int | None:
    if said.input_tokens is None or said.output_tokens is None:
        return None
    for model in (said.model, options.model):
        cost = settings.cost_of(model or "", said.input_tokens, said.output_tokens)
        if cost is not None:
            return cost
    return None


def _problem(provider: str, said: Said, options: Options) -> tuple[str, str | None, str]:
    """Its words, type and code."""
    if said.ending is Ending.FILTERED:
        return f"{provider} denied an answer: content filter", "ContentFilter", "content_filter"
    cut_off = f"{provider} cut its answer off, so that its last line cannot be trusted"
    if said.ending is Ending.CUT_OFF:
        return f"{cut_off}: max_tokens ({options.max_tokens:,}) was reached", None, "max_tokens"
    if said.ending is Ending.FULL:
        return f"{cut_off}: the model's context window was used up", None, "context_window_exceeded"
    return f"{provider} gave an empty answer", None, "empty_answer"
