"""A provider is asked, and what the call took is noted for the audit log, however it ends."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from duecourse.domain.errors import NotConfiguredError
from duecourse.domain.requests.action_payload import list_call_keys
from duecourse.domain.tasks.handler import RunContext
from duecourse.domain.tasks.run import ProviderCall
from duecourse.ports.integrations import Provider, ProviderReply, ProviderRequest
from duecourse.ports.runtime import Clock

_MODEL_LIMIT = 200


def get_provider(name: object, providers: Mapping[str, Provider]) -> Provider:
    """Raises NotSetUpError: it was there when the task was made."""
    provider = providers.get(name) if isinstance(name, str) else None
    if provider is None:
        raise NotConfiguredError("provider", name if isinstance(name, str) else None)
    return provider


def keys_of_call(payload: Mapping[str, Any], providers: Mapping[str, Provider]) -> list[str] | None:
    """The keys that a payload may have for its provider; None where that is not set up."""
    return list_call_keys(payload, {name: one.payload_keys for name, one in providers.items()})


def call_provider(
    provider: Provider, ask: ProviderRequest, context: RunContext, *, clock: Clock
) -> ProviderReply:
    """The call is in `work.call` afterwards. Errors pass, and tell its cost and model."""
    began = clock.now()
    told: object = None
    try:
        reply = provider.call(ask)
        told = reply
    except BaseException as error:
        told = error
        raise
    finally:
        context.call = _to_provider_call(context, told, duration=clock.now() - began)
    return reply


def _to_provider_call(
    context: RunContext, reply_or_error: object, *, duration: timedelta
) -> ProviderCall:
    """Of a reply or of an error: either may say nothing, or nonsense."""
    model = getattr(reply_or_error, "model", None)
    cost = getattr(reply_or_error, "cost", None)
    is_cost = isinstance(cost, int) and not isinstance(cost, bool) and cost >= 0
    return ProviderCall(
        provider=context.task.provider or "",
        model=model[:_MODEL_LIMIT] if isinstance(model, str) else None,
        # A clock that is put back makes nothing take less than no time.
        milliseconds=max(0, duration // timedelta(milliseconds=1)),
        cost=cost if is_cost else None,
    )
