"""The channels, providers and handlers that a deployment offers."""

from __future__ import annotations

from collections import ChainMap
from dataclasses import dataclass, field
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from duecourse.app import secrets, stores
from duecourse.app.lazy import LazyMapping

if TYPE_CHECKING:
    from collections.abc import Mapping

    from duecourse.adapters.channels.inbound import InboundParser
    from duecourse.domain.requests.capabilities import Capabilities
    from duecourse.domain.tasks.handler import Handler
    from duecourse.domain.validation.payload_keys import PayloadCheck
    from duecourse.ports.integrations import (
        Channel,
        ConnectionSender,
        HttpClient,
        HttpPatchClient,
        Invoker,
        Provider,
        Topic,
    )


@dataclass
class _Registrations:
    """Additions made before anything is built, by the local runtime and by tests.

    `is_loopback_allowed` is for the local runtime only; no setting of a deployed stack can set it.
    """

    channels: dict[str, Channel] = field(default_factory=dict)
    providers: dict[str, Provider] = field(default_factory=dict)
    handlers: dict[str, Handler] = field(default_factory=dict)
    webhook_client: HttpClient | None = None
    connection_sender: ConnectionSender | None = None
    is_loopback_allowed: bool = False


_registrations = _Registrations()


def channels() -> Mapping[str, Channel]:
    return {**builtin_channels(), **_registrations.channels}


@cache
def builtin_channels() -> Mapping[str, Channel]:
    """Return the configured built-in channels. Their tokens are read on first use."""
    from duecourse.adapters.channels.platform import OutboundDeps
    from duecourse.adapters.channels.registry import make_channels, make_send_only

    deps = OutboundDeps(
        http_client=http_client(),
        tokens=secrets.chat_tokens(),
        clock=stores.clock(),
        topic=_reminder_topic(),
    )
    return {**make_send_only(deps), **make_channels(stores.settings().channels, deps)}


def _reminder_topic() -> Topic | None:
    arn = stores.settings().reminder_topic_arn
    if not arn:
        return None
    from duecourse.adapters.aws.sns import SnsTopic

    return SnsTopic(arn, channel="email")


def inbound_parser(name: str) -> InboundParser:
    """Return the parser for a platform's incoming requests.

    Raises UnknownPlatformError. A platform that verifies its requests is always available, because
    without a secret no request passes. One that does not, such as the console, must be registered.
    """
    from duecourse.adapters.channels.platform import InboundDeps
    from duecourse.adapters.channels.registry import find_platform
    from duecourse.adapters.http.request_errors import UnknownPlatformError

    platform = find_platform(name)
    if not platform.is_verified and name not in channels():
        raise UnknownPlatformError
    return platform.inbound.make(
        InboundDeps(proofs=secrets.chat_verification_keys(), new_id=stores.new_id)
    )


def register_channel(name: str, channel: Channel) -> None:
    _registrations.channels[name] = channel
    capabilities.cache_clear()


def providers() -> Mapping[str, Provider]:
    return {**builtin_providers(), **_registrations.providers}


@cache
def builtin_providers() -> Mapping[str, Provider]:
    """Return the configured built-in providers. Their keys are read on first use."""
    from duecourse.adapters.providers.registry import make_providers

    return make_providers(
        stores.settings().providers,
        http_client(),
        secrets.provider_keys(),
        stores.clock(),
        is_loopback_allowed=_registrations.is_loopback_allowed,
    )


def register_provider(name: str, provider: Provider) -> None:
    _registrations.providers[name] = provider
    capabilities.cache_clear()


@cache
def http_client() -> HttpPatchClient:
    from duecourse.adapters.http.client import SsrfSafeHttpClient

    return SsrfSafeHttpClient(is_loopback_allowed=_registrations.is_loopback_allowed)


def webhook_client() -> HttpClient:
    return _registrations.webhook_client or http_client()


def register_webhook_client(client: HttpClient) -> None:
    """Replace the client that posts webhooks; the local runtime watches it and injects faults."""
    _registrations.webhook_client = client


def connection_sender() -> ConnectionSender:
    return _registrations.connection_sender or _api_gateway_sender()


@cache
def _api_gateway_sender() -> ConnectionSender:
    from duecourse.adapters.aws.websocket_sender import ApiGatewaySender

    return ApiGatewaySender(stores.settings().live_endpoint)


def register_connection_sender(sender: ConnectionSender) -> None:
    """Replace the API Gateway sender: the local runtime holds its WebSockets itself."""
    _registrations.connection_sender = sender


def allow_loopback() -> None:
    _registrations.is_loopback_allowed = True


def handlers() -> Mapping[str, Handler]:
    """Return the handlers by type. A built-in one is built when its first task comes."""
    return ChainMap(
        dict(_registrations.handlers),
        dict(custom_handlers()),
        _builtin_handlers(),  # type: ignore[arg-type]
    )


def remote(function: str, **options: Any) -> Handler:
    """Return a handler whose phases another Lambda runs; `options` as for `remote_handler`."""
    from duecourse.handlers.lambda_function import remote_handler

    return remote_handler(function, _invoker(), stores.clock(), **options)


def register_handler(name: str, handler: Handler) -> None:
    """Replace the handler of this type, so that the test kit can watch it."""
    _registrations.handlers[name] = handler
    capabilities.cache_clear()


@cache
def custom_handlers() -> Mapping[str, Handler]:
    from duecourse.adapters.runtime.custom_handlers import load_handlers

    return load_handlers(stores.settings().handlers_module, reserved_types=_builtin_handlers())


@cache
def deployed_version() -> str:
    """Return the version of the deployed code, including custom handlers."""
    from duecourse.adapters.runtime.code_version import CORE_FOLDER, code_version
    from duecourse.adapters.runtime.custom_handlers import find_code_path

    return code_version(CORE_FOLDER, find_code_path(stores.settings().handlers_module))


@cache
def capabilities() -> Capabilities:
    """Return what this deployment supports. It is built again after a registration."""
    from duecourse.adapters.channels.registry import (
        default_channel,
        default_reminder_channel,
        only_targets,
    )
    from duecourse.adapters.runtime.policy_files import read_policies_without_rules
    from duecourse.domain.requests.action_payload import check_action
    from duecourse.domain.requests.capabilities import Capabilities
    from duecourse.domain.tasks.handler import check_payload
    from duecourse.handlers.provider_call import keys_of_call

    return Capabilities(
        types=frozenset(handlers()),
        channels=frozenset(channels()),
        policies={
            name: policy.max_retries for name, policy in read_policies_without_rules().items()
        },
        default_channel=default_channel(channels()),
        default_reminder_channel=default_reminder_channel(channels()),
        only_targets=only_targets(),
        payload_checks={
            name: partial(check_payload, handler=handler) for name, handler in handlers().items()
        },
        check_verifier=partial(check_action, providers=_provider_checks()),
        find_call_keys=partial(keys_of_call, providers=providers()),
    )


def _provider_checks() -> Mapping[str, PayloadCheck]:
    return {name: provider.check for name, provider in providers().items()}


@cache
def _builtin_handlers() -> Mapping[str, Handler]:
    from duecourse.domain.requests.default_policy import ENRICH
    from duecourse.domain.tasks.task import ACTION, REMINDER

    builders = {
        REMINDER: _reminder_handler,
        ACTION: _action_handler,
        ENRICH: _enrich_handler,
        "webhook": _webhook_handler,
    }
    if stores.settings().lambda_functions:
        builders["lambda"] = _lambda_handler
    return LazyMapping(builders)


def _reminder_handler() -> Handler:
    from duecourse.handlers.reminder import ReminderHandler

    return ReminderHandler(channels())


def _action_handler() -> Handler:
    from duecourse.handlers.action import ActionHandler

    return ActionHandler(providers(), stores.budgets(), stores.clock())


def _enrich_handler() -> Handler:
    from duecourse.handlers.enrich import EnrichHandler

    return EnrichHandler(providers(), stores.budgets(), stores.clock(), channels())


def _webhook_handler() -> Handler:
    from duecourse.handlers.webhook import WebhookHandler

    return WebhookHandler(
        webhook_client(),
        secrets.signing_keys(),
        stores.clock(),
        is_loopback_allowed=_registrations.is_loopback_allowed,
        header_secrets=secrets.header_secrets(),
    )


def _lambda_handler() -> Handler:
    from duecourse.handlers.lambda_function import LambdaHandler

    allowed = frozenset(stores.settings().lambda_functions)
    return LambdaHandler(_invoker(), stores.clock(), allowed)


@cache
def _invoker() -> Invoker:
    from duecourse.adapters.aws.lambda_invoker import LambdaInvoker

    return LambdaInvoker()


def reset() -> None:
    """Remove all registrations."""
    vars(_registrations).update(vars(_Registrations()))
    capabilities.cache_clear()
