"""Amazon Bedrock's converse, asked with the rights of the function: there is no key to keep."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import closing
from datetime import timedelta
from typing import Any

from duecourse.adapters.http.deadline_connection import Deadline, in_time
from duecourse.adapters.http.json_response import at, text_at
from duecourse.adapters.providers.bedrock_errors import NAME, failure_of
from duecourse.adapters.providers.completion import Ending, Said, reply_to, tokens_at
from duecourse.adapters.providers.errors import BadAnswerError
from duecourse.adapters.providers.options import (
    OPTION_KEYS,
    Options,
    options_at_work,
    read_options,
    time_left,
)
from duecourse.adapters.providers.prompt import most_input_tokens, user_text
from duecourse.domain.limits.provider_settings import ProviderSettings
from duecourse.ports.integrations import Ask, Reply
from duecourse.ports.runtime import Clock

_LONGEST_CONNECT = 3.0  # seconds
_ENDINGS = {
    "guardrail_intervened": Ending.FILTERED,
    "content_filtered": Ending.FILTERED,
    "max_tokens": Ending.CUT_OFF,
    "model_context_window_exceeded": Ending.FULL,
}

# A client of `bedrock-runtime` whose one call takes no longer than that.
Clients = Callable[[timedelta], Any]


def bedrock_client(left: timedelta) -> Any:
    """It never tries again by itself: a second call would be paid for without anybody knowing.

    Its timeouts are for each step: whoever asks must also keep an eye on the whole.
    """
    import boto3
    from botocore.config import Config

    connect = min(_LONGEST_CONNECT, left.total_seconds() / 2)
    config = Config(
        connect_timeout=connect,
        read_timeout=left.total_seconds() - connect,
        retries={"total_max_attempts": 1},
    )
    return boto3.client("bedrock-runtime", config=config)


class BedrockProvider:
    payload_keys = OPTION_KEYS

    def __init__(self, settings: ProviderSettings, clients: Clients, clock: Clock) -> None:
        self._settings = settings
        self._clients = clients
        self._clock = clock

    def check(self, payload: Mapping[str, Any]) -> None:
        read_options(payload, self._settings)

    def most_it_costs(self, ask: Ask) -> int | None:
        options = options_at_work(ask.payload, self._settings)
        tokens = most_input_tokens(ask)
        return self._settings.cost_of(options.model, tokens, options.max_tokens)

    def act(self, ask: Ask) -> Reply:
        options = options_at_work(ask.payload, self._settings)
        left = time_left(options, deadline=ask.deadline, now=self._clock.now())
        said = _said(self._converse(ask, options, left))
        if said is None:
            raise BadAnswerError(NAME, "an unexpected format", model=options.model)
        return reply_to(NAME, said, options, self._settings)

    def _converse(self, ask: Ask, options: Options, left: timedelta) -> Any:
        def converse() -> Any:
            with closing(self._clients(left)) as client:
                return client.converse(
                    modelId=options.model,
                    system=[{"text": ask.instruction}],
                    messages=[{"role": "user", "content": [{"text": user_text(ask)}]}],
                    inferenceConfig={"maxTokens": options.max_tokens},
                )

        try:
            return in_time(converse, Deadline(left))
        except Exception as error:  # over an odd answer, botocore stumbles in many ways
            raise failure_of(error, model=options.model, now=self._clock.now()) from error


def _said(answer: Any) -> Said | None:
    """The answer does not name its model."""
    blocks = at(answer, "output", "message", "content")
    if not isinstance(blocks, list):
        return None
    return Said(
        text="".join(text_at(block, "text") for block in blocks),
        ending=_ENDINGS.get(text_at(answer, "stopReason"), Ending.WHOLE),
        input_tokens=tokens_at(answer, "usage", "inputTokens"),
        output_tokens=tokens_at(answer, "usage", "outputTokens"),
    )
