"""The whole system on one machine: moto, the functions, what wakes them, and the clock."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import ExitStack, redirect_stdout
from datetime import datetime, timedelta
from importlib import invalidate_caches
from typing import Any, TypeVar

from aws_lambda_powertools.utilities import parameters
from duecourse.adapters.channels.registry import PLATFORMS
from duecourse.app import registry, services
from moto import mock_aws
from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.dynamodb.models import dynamodb_backends

from local.runtime import moto_patches
from local.runtime.call_interceptor import Calls
from local.runtime.clock import LocalClock
from local.runtime.functions import Functions
from local.runtime.idle_alert_ticks import alerts_matter_from
from local.runtime.idle_ticks import scanner_matters_from, sweeper_matters_from
from local.runtime.outbox import Outbox, OutboxChannel
from local.runtime.queue_sources import queue_sources
from local.runtime.resources import chat_tokens, make_resources
from local.runtime.scheduler import Conductor, Source
from local.runtime.schedules import schedules
from local.runtime.stream_sources import stream_sources
from local.runtime.template import ACCOUNT, REGION, Resolver, translated
from local.runtime.websocket_api import Live
from local.testing.faults import Faults
from local.testing.instrumented_clients import WatchedPoster, WatchedProvider
from local.testing.scripted_provider import ScriptedProvider

T = TypeVar("T")
DEFAULT_TOKEN = "local"  # noqa: S105 - the laptop's token guards nothing
LONGEST_SETTLING = 5.0  # seconds: under a flood, nothing is ever settled
TEAM_HANDLERS = "functions.worker.handlers"  # here, functions/ is a package
PLAYGROUND = "/_local/playground.js"  # what the dashboard loads besides its own
OPERATORS = "console:operators"
_CREDENTIALS = {
    "AWS_DEFAULT_REGION": REGION,
    "AWS_REGION": REGION,
    "AWS_ACCESS_KEY_ID": "local",
    "AWS_SECRET_ACCESS_KEY": "local",
    "AWS_SESSION_TOKEN": "local",
}
_MATTERS_FROM = {
    "ScannerFunction": scanner_matters_from,
    "SweeperFunction": sweeper_matters_from,
    "AlertsFunction": alerts_matter_from,
}


class Stack:
    def __init__(
        self,
        *,
        manual_clock: bool,
        token: str = DEFAULT_TOKEN,
        starts_at: datetime | None = None,
        handlers_module: str | None = None,
    ) -> None:
        self._token = token
        self._handlers_module = handlers_module or os.environ.get("HANDLERS_MODULE", TEAM_HANDLERS)
        # Played by whoever answers at AWS_ENDPOINT_URL_LAMBDA, such as `sam local start-lambda`.
        self._lambda_functions = os.environ.get("LAMBDA_FUNCTIONS", "")
        self._adapt_delays = os.environ.get("ADAPT_DELAYS", "off")
        self._open = ExitStack()
        self._template: dict[str, Any] = {}
        self.clock = LocalClock(is_manual=manual_clock, starts_at=starts_at)
        self.conductor = Conductor(self.clock)
        self.faults = Faults()
        self.calls = Calls(self.faults)
        self.outbox = Outbox(self.clock, self.calls)
        self.live = Live(self.invoke, self.clock, self.calls)
        self.functions: Functions

    def start(self, *, log_level: str = "WARNING") -> None:
        """One stack at a time in a process: clock, environment and moto are the process's own."""
        try:
            self._start(log_level)
        except BaseException:
            self.stop()
            raise

    def _start(self, log_level: str) -> None:
        assert ACCOUNT == DEFAULT_ACCOUNT_ID  # noqa: S101 - ARNs are made of it
        self._template = translated()
        self.functions = Functions(self._template, self.clock)
        self._set_environment(_CREDENTIALS | {"POWERTOOLS_METRICS_DISABLED": "true"})
        self._open.enter_context(mock_aws())
        self._open.enter_context(moto_patches.taken())
        self._open.enter_context(self.calls.installed())
        self.clock.start(self.conductor.sleep)
        self._open.callback(self.clock.stop)
        sources = self._build(log_level)
        # Their logs must not mix with what the command line prints for programs.
        with redirect_stdout(sys.stderr):
            self.functions.load()
        self.conductor.start(sources)
        self._open.callback(self.conductor.stop)
        self._open.callback(self.live.shut)

    def stop(self) -> None:
        self._open.close()

    def invoke(self, function: str, event: Any, *, and_what_follows: bool = False) -> Any:
        """`and_what_follows`: also with the real clock, what it sets off at once has happened."""
        reply = self._settled(lambda: self.functions.invoke(function, event))
        if and_what_follows:
            self.conductor.settle(LONGEST_SETTLING)
        return reply

    def advance(self, by: timedelta) -> datetime:
        return self.conductor.advance(by)

    def reset(self) -> None:
        """An empty system, at the same moment, with no fault in wait."""
        self.conductor.call(self._reset)

    def redeploy(self) -> str:
        """Load the team's handlers anew, as deploying them would; all state stays. The version.

        Whatever they raise is raised here. The rest of the code is loaded anew by a new start.
        """
        return self._settled(self._redeploy)

    def _settled(self, work: Callable[[], T]) -> T:
        """With time in our hands, what a request sets off has happened before it is answered."""
        try:
            return self.conductor.call(work)
        finally:
            if self.clock.is_manual:
                self.conductor.settle()

    def _reset(self) -> None:
        for backends in _used_backends():
            backends.reset()
        self.faults.clear()
        self.calls.counts.clear()
        self.outbox.sent.clear()
        self.live.end_all()
        parameters.clear_caches()  # type: ignore[no-untyped-call]
        self.conductor.replace_sources(self._build(os.environ["POWERTOOLS_LOG_LEVEL"]))

    def _build(self, log_level: str) -> list[Source]:
        resolver = Resolver(self._template)
        make_resources(self._template, resolver, token=self._token)
        environment = resolver.resolve(self.functions.environment())
        # moto is not atomic under threads, and one activity runs at a time here.
        self._set_environment(
            environment
            | {"POWERTOOLS_LOG_LEVEL": log_level, "SCANNER_THREADS": "1"}
            | {"HANDLERS_MODULE": self._handlers_module, "PROVIDERS": "openai,anthropic,bedrock"}
            | {"LIVE_URL": "/live", "PAGE_MODULES": PLAYGROUND, "OPERATORS": OPERATORS}
            | {"LAMBDA_FUNCTIONS": self._lambda_functions, "CHANNELS": ",".join(chat_tokens())}
            | {"ADAPT_DELAYS": self._adapt_delays}
        )
        self._wire()
        queues = queue_sources(self._template, self.functions, resolver)
        streams = stream_sources(self._template, self.functions, resolver, self.clock)
        ticks = schedules(self._template, self.functions, self._tick_matters_from)
        # Work that is due comes before what is told about it afterwards.
        return [*queues, *ticks, *streams]

    def _wire(self) -> None:
        services.forget()
        registry.allow_loopback()
        for name in PLATFORMS:
            sender = registry.shipped_channels().get(name)
            registry.register_channel(name, OutboxChannel(name, self.outbox, sender))
        for name, provider in registry.shipped_providers().items():
            registry.register_provider(name, WatchedProvider(provider, self.calls))
        registry.register_provider("scripted", ScriptedProvider(self.calls))
        registry.register_pusher(self.live)
        registry.register_webhook_poster(WatchedPoster(registry.poster(), self.calls))

    def _redeploy(self) -> str:
        for name in list(sys.modules):
            if f"{name}.".startswith(f"{self._handlers_module}."):
                del sys.modules[name]
        invalidate_caches()
        self._wire()
        registry.team_handlers()
        return registry.version()

    def _tick_matters_from(self, function: str, now: datetime) -> datetime | None:
        """Only a jumping clock passes ticks over, and none of a function that a fault waits for."""
        if not self.conductor.is_advancing or self.faults.wait_for(function):
            return now
        matters_from = _MATTERS_FROM.get(function)
        return matters_from() if matters_from else now

    def _set_environment(self, values: dict[str, Any]) -> None:
        for name, value in values.items():
            self._open.callback(_restore, name, os.environ.get(name))
            os.environ[name] = str(value)


def _used_backends() -> list[Any]:
    from moto.events.models import events_backends
    from moto.secretsmanager.models import secretsmanager_backends
    from moto.sqs.models import sqs_backends

    used = (dynamodb_backends, sqs_backends, secretsmanager_backends, events_backends)
    return [backends[ACCOUNT][REGION] for backends in used]


def _restore(name: str, value: str | None) -> None:
    if value is None:
        os.environ.pop(name, None)
    else:
        os.environ[name] = value
