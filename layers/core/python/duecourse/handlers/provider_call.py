"""Call a provider and record model, cost and duration for the audit log, even on an error."""

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
    """Return the provider. Raises NotConfiguredError if it is no longer configured."""
    provider = providers.get(name) if isinstance(name, str) else None
    if provider is None:
        raise NotConfiguredError("provider", name if isinstance(name, str) else None)
    return provider


def keys_of_call(payload: Mapping[str, Any], providers: Mapping[str, Provider]) -> list[str] | None:
    """Return the payload keys allowed for the payload's provider; None if it is not configured."""
    return list_call_keys(
        payload, {name: provider.payload_keys for name, provider in providers.items()}
    )


def call_provider(
    provider: Provider, request: ProviderRequest, context: RunContext, *, clock: Clock
) -> ProviderReply:
    """Call the provider and set `context.call`, also if the call raises."""
    started_at = clock.now()
    reply_or_error: object = None
    try:
        reply = provider.call(request)
        reply_or_error = reply
    except BaseException as error:
        reply_or_error = error
        raise
    finally:
        context.call = _to_provider_call(context, reply_or_error, duration=clock.now() - started_at)
    return reply


def _to_provider_call(
    context: RunContext, reply_or_error: object, *, duration: timedelta
) -> ProviderCall:
    """Build the record from a reply or an error. Ignore an invalid model or cost."""
    model = getattr(reply_or_error, "model", None)
    cost = getattr(reply_or_error, "cost", None)
    is_cost = isinstance(cost, int) and not isinstance(cost, bool) and cost >= 0
    return ProviderCall(
        provider=context.task.provider or "",
        model=model[:_MODEL_LIMIT] if isinstance(model, str) else None,
        # The system clock may be set back during the call.
        milliseconds=max(0, duration // timedelta(milliseconds=1)),
        cost=cost if is_cost else None,
    )
