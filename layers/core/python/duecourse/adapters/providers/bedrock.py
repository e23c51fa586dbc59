"""Amazon Bedrock's Converse API, called with the function's IAM role instead of a key."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import closing
from datetime import timedelta
from typing import Any

from duecourse.adapters.http.deadline_connection import Deadline, run_with_deadline
from duecourse.adapters.http.json_response import text_at, value_at
from duecourse.adapters.providers.bedrock_errors import NAME, error_from_exception
from duecourse.adapters.providers.completion import Completion, FinishReason, to_reply, tokens_at
from duecourse.adapters.providers.errors import InvalidResponseError
from duecourse.adapters.providers.options import (
    OPTION_KEYS,
    Options,
    read_options,
    read_options_at_run,
    remaining_time,
)
from duecourse.adapters.providers.prompt import max_input_tokens, user_prompt
from duecourse.domain.limits.provider_settings import ProviderSettings
from duecourse.ports.integrations import ProviderReply, ProviderRequest
from duecourse.ports.runtime import Clock

_MAX_CONNECT_SECONDS = 3.0
_FINISH_REASONS = {
    "guardrail_intervened": FinishReason.FILTERED,
    "content_filtered": FinishReason.FILTERED,
    "max_tokens": FinishReason.MAX_TOKENS,
    "model_context_window_exceeded": FinishReason.CONTEXT_FULL,
}

# Returns a `bedrock-runtime` client whose calls time out after the given time.
ClientFactory = Callable[[timedelta], Any]


def bedrock_client(timeout: timedelta) -> Any:
    """Return a client without retries, since a retried call would cost money unnoticed.

    Its timeouts apply to single steps, so callers also need a deadline for the whole call.
    """
    from botocore.config import Config

    from duecourse.adapters.aws.clients import make_client

    connect = min(_MAX_CONNECT_SECONDS, timeout.total_seconds() / 2)
    config = Config(
        connect_timeout=connect,
        read_timeout=timeout.total_seconds() - connect,
        retries={"total_max_attempts": 1},
    )
    return make_client("bedrock-runtime", config)


class BedrockProvider:
    payload_keys = OPTION_KEYS

    def __init__(
        self, settings: ProviderSettings, make_client: ClientFactory, clock: Clock
    ) -> None:
        self._settings = settings
        self._make_client = make_client
        self._clock = clock

    def check(self, payload: Mapping[str, Any]) -> None:
        read_options(payload, self._settings)

    def estimate_max_cost(self, request: ProviderRequest) -> int | None:
        options = read_options_at_run(request.payload, self._settings)
        tokens = max_input_tokens(request)
        return self._settings.cost_of(options.model, tokens, options.max_tokens)

    def call(self, request: ProviderRequest) -> ProviderReply:
        options = read_options_at_run(request.payload, self._settings)
        left = remaining_time(options, deadline=request.deadline, now=self._clock.now())
        completion = _parse_completion(self._converse(request, options, left))
        if completion is None:
            raise InvalidResponseError(NAME, "an unexpected format", model=options.model)
        return to_reply(NAME, completion, options, self._settings)

    def _converse(self, request: ProviderRequest, options: Options, timeout: timedelta) -> Any:
        def converse() -> Any:
            with closing(self._make_client(timeout)) as client:
                return client.converse(
                    modelId=options.model,
                    system=[{"text": request.system_prompt}],
                    messages=[{"role": "user", "content": [{"text": user_prompt(request)}]}],
                    inferenceConfig={"maxTokens": options.max_tokens},
                )

        try:
            return run_with_deadline(converse, Deadline(timeout))
        except Exception as error:  # botocore raises many types for a malformed response
            raise error_from_exception(error, model=options.model, now=self._clock.now()) from error


def _parse_completion(body: Any) -> Completion | None:
    """Return the completion, without a model: the response does not name it."""
    blocks = value_at(body, "output", "message", "content")
    if not isinstance(blocks, list):
        return None
    return Completion(
        text="".join(text_at(block, "text") for block in blocks),
        finish_reason=_FINISH_REASONS.get(text_at(body, "stopReason"), FinishReason.COMPLETE),
        input_tokens=tokens_at(body, "usage", "inputTokens"),
        output_tokens=tokens_at(body, "usage", "outputTokens"),
    )
