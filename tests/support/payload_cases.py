"""Every built-in task type and provider, with a payload that it accepts."""

from __future__ import annotations

from functools import partial
from typing import Any

from duecourse.adapters.http.client import SsrfSafeHttpClient
from duecourse.adapters.providers.registry import make_providers
from duecourse.domain.requests.action_payload import check_action
from duecourse.domain.requests.capabilities import Capabilities
from duecourse.domain.tasks.handler import Handler, check_payload
from duecourse.handlers.action import ActionHandler
from duecourse.handlers.enrich import EnrichHandler
from duecourse.handlers.lambda_function import LambdaHandler
from duecourse.handlers.provider_call import keys_of_call
from duecourse.handlers.reminder import ReminderHandler
from duecourse.handlers.webhook import WebhookHandler
from duecourse.ports.integrations import Provider

from local.runtime.call_interceptor import CallInterceptor
from local.testing.faults import Faults
from local.testing.instrumented_clients import InstrumentedProvider
from local.testing.scripted_provider import ScriptedProvider
from tests.support.builders.moments import NOW
from tests.support.builders.tasks import STACK_CAPABILITIES
from tests.support.fakes.clock import ManualClock
from tests.support.fakes.limits import MemoryBudgets
from tests.support.provider_cases import DictKeys
from tests.unit.handlers.test_lambda_function import Functions

CLOCK, CALLS = ManualClock(NOW), CallInterceptor(Faults())
NAMES = ("openai", "anthropic", "bedrock")
PROVIDERS: dict[str, Provider] = {
    **{
        name: InstrumentedProvider(provider, CALLS)
        for name, provider in make_providers(
            NAMES, SsrfSafeHttpClient(), DictKeys(), CLOCK, is_loopback_allowed=False
        ).items()
    },
    "scripted": ScriptedProvider(CALLS),
}


class Lights(Handler):
    """A custom handler that declares no payload keys."""


class Lamps(Handler):
    """A custom handler that declares its payload keys."""

    payload_keys = ("lamp",)


HANDLERS: dict[str, Handler] = {
    "reminder": ReminderHandler({}),
    "action": ActionHandler(PROVIDERS, MemoryBudgets(), CLOCK),
    "enrich": EnrichHandler(PROVIDERS, MemoryBudgets(), CLOCK, {}),
    "webhook": WebhookHandler(SsrfSafeHttpClient(), DictKeys(), CLOCK),
    "lambda": LambdaHandler(Functions(), CLOCK, frozenset({"resize"})),
    "lights": Lights(),
    "lamps": Lamps(),
}
ALL_CAPABILITIES = Capabilities(
    types=frozenset(HANDLERS),
    channels=STACK_CAPABILITIES.channels,
    policies=STACK_CAPABILITIES.policies,
    default_channel=STACK_CAPABILITIES.default_channel,
    payload_checks={name: partial(check_payload, handler=one) for name, one in HANDLERS.items()},
    check_verifier=partial(
        check_action, providers={name: one.check for name, one in PROVIDERS.items()}
    ),
    find_call_keys=partial(keys_of_call, providers=PROVIDERS),
)
SHARED_KEYS: dict[str, Any] = {
    "idempotent": True,
    "spec": "a page of words",
    "verifier": {"provider": "scripted"},
    "review": {"provider": "bedrock"},
}
CALL_KEYS: dict[str, Any] = {"budget": "agents", "max_cost": 0.5}
MODEL_KEYS: dict[str, Any] = {"model": "m", "max_tokens": 100, "timeout": 20}
SCRIPT_KEYS: dict[str, Any] = {"script": [{"reply": "ACTION_OUTCOME: success"}]}
PROVIDER_PAYLOADS: dict[str, dict[str, Any]] = {
    **{name: {"provider": name, **CALL_KEYS, **MODEL_KEYS} for name in NAMES},
    "openai": {
        "provider": "openai",
        **CALL_KEYS,
        **MODEL_KEYS,
        "endpoint": "https://api.openai.com/v1",
    },
    "scripted": {"provider": "scripted", **CALL_KEYS, **SCRIPT_KEYS},
}
ENRICH_KEYS: dict[str, Any] = {"schema": {"type": "object"}, "input": [1], "tell": False}
# With every key that the type accepts.
FULL_PAYLOADS: list[tuple[str, dict[str, Any]]] = [
    ("reminder", {}),
    *(("action", payload) for payload in PROVIDER_PAYLOADS.values()),
    *(("enrich", {**payload, **ENRICH_KEYS}) for payload in PROVIDER_PAYLOADS.values()),
    ("webhook", {"url": "https://a.example/", "body": None, "headers": {}, "timeout": 5}),
    ("lambda", {"function": "resize", "input": None, "timeout": 5}),
    ("lamps", {"lamp": "hall"}),
]
