"""The whole system on one machine: AWS, the functions, their event sources, and the clock."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import ExitStack, redirect_stdout
from datetime import datetime, timedelta
from importlib import invalidate_caches
from typing import Any, TypeVar

from aws_lambda_powertools.utilities import parameters
from duecourse.adapters.channels.registry import PLATFORMS, SEND_ONLY
from duecourse.app import registry, services

from local.runtime.aws_backend import AwsBackend
from local.runtime.call_interceptor import CallInterceptor
from local.runtime.chat_environment import read_chat_environment
from local.runtime.clock import LocalClock
from local.runtime.functions import Functions
from local.runtime.moto_backend import MotoBackend
from local.runtime.outbox import Outbox, OutboxChannel
from local.runtime.queue_sources import MAX_BATCHES, make_queue_sources
from local.runtime.resources import make_resources, make_webhook_secrets, read_chat_tokens
from local.runtime.sample_tasks import create_sample_tasks
from local.runtime.scheduler import Scheduler, Source
from local.runtime.schedules import Schedule, make_schedules
from local.runtime.stream_sources import make_stream_sources
from local.runtime.template import REGION, Resolver, load_template
from local.runtime.websocket_api import WebSocketApi
from local.testing.faults import Faults
from local.testing.instrumented_clients import InstrumentedHttpClient, InstrumentedProvider
from local.testing.scripted_provider import ScriptedProvider

T = TypeVar("T")
DEFAULT_TOKEN = "local"  # noqa: S105 - the laptop's token guards nothing
MAX_IDLE_WAIT = 5.0  # seconds; under constant load the stack is never idle
CUSTOM_HANDLERS_MODULE = "functions.worker.handlers"  # locally, functions/ is a package
PLAYGROUND_MODULE = "/_local/playground.js"  # an extra module that the dashboard loads
OPERATOR_CHATS = "console:operators"
_CREDENTIALS = {
    "AWS_DEFAULT_REGION": REGION,
    "AWS_REGION": REGION,
    "AWS_ACCESS_KEY_ID": "local",
    "AWS_SECRET_ACCESS_KEY": "local",
    "AWS_SESSION_TOKEN": "local",
    "AWS_ENDPOINT_URL": "",  # a shell may have one, for sam local
}


class Stack:
    def __init__(
        self,
        *,
        is_clock_manual: bool,
        token: str = DEFAULT_TOKEN,
        starts_at: datetime | None = None,
        handlers_module: str | None = None,
        template: dict[str, Any] | None = None,
        backend: AwsBackend | None = None,
    ) -> None:
        """`template` replaces template.yaml, translated as `load_template` does.

        `backend` is the AWS emulation, by default moto.
        """
        self.backend = backend or MotoBackend()
        self._token = token
        self._handlers_module = handlers_module or os.environ.get(
            "HANDLERS_MODULE", CUSTOM_HANDLERS_MODULE
        )
        # Invoked at AWS_ENDPOINT_URL_LAMBDA, for example by `sam local start-lambda`.
        self._lambda_functions = os.environ.get("LAMBDA_FUNCTIONS", "")
        self._adapt_delays = os.environ.get("ADAPT_DELAYS", "off")
        self._chat_environment = read_chat_environment()
        self._exit_stack = ExitStack()
        self._template: dict[str, Any] = template or {}
        self.clock = LocalClock(is_manual=is_clock_manual, starts_at=starts_at)
        self.scheduler = self._make_scheduler()
        self.faults = self._make_faults()
        self.calls = CallInterceptor(self.faults)
        self.outbox = Outbox(self.clock, self.calls)
        self.websocket_api = WebSocketApi(self.invoke, self.clock, self.calls)
        self.skips_idle_ticks = True
        self.waits_for_batches = False  # set before `start`
        self.schedules: list[Schedule] = []
        self.functions: Functions

    def start(self, *, log_level: str = "WARNING") -> None:
        """Start the stack.

        A process can run one, because clock, environment and moto are global.
        """
        try:
            self._start(log_level)
        except BaseException:
            self.stop()
            raise

    def _start(self, log_level: str) -> None:
        self._template = self._template or load_template()
        self.functions = self._make_functions(self._template)
        self._set_environment(_CREDENTIALS | {"POWERTOOLS_METRICS_DISABLED": "true"})
        self._exit_stack.enter_context(self.backend.install(self.clock))
        self._exit_stack.enter_context(self.calls.install())
        self.clock.start(self.scheduler.sleep)
        self._exit_stack.callback(self.clock.stop)
        sources = self._build(log_level)
        # The functions' logs must not mix with the command line's output.
        with redirect_stdout(sys.stderr):
            self.functions.load()
        self.scheduler.start(sources)
        self._exit_stack.callback(self.scheduler.stop)
        self._exit_stack.callback(self.websocket_api.shut_down)

    def stop(self) -> None:
        self._exit_stack.close()

    def invoke(self, function: str, event: Any, *, wait_until_idle: bool = False) -> Any:
        """Invoke a function.

        `wait_until_idle` also waits for what it triggers, on a real clock too.
        """
        reply = self._call_and_settle(lambda: self.functions.invoke(function, event))
        if wait_until_idle:
            self.scheduler.wait_until_idle(MAX_IDLE_WAIT)
        return reply

    def advance(self, by: timedelta) -> datetime:
        return self.scheduler.advance(by)

    def reset(self) -> None:
        """Empty the system and remove all faults. The clock keeps its time."""
        self.scheduler.call(self._reset)

    def create_samples(self) -> list[str]:
        """Store the tasks that the sample events are about, and return their ids."""
        return self._call_and_settle(lambda: create_sample_tasks(now=self.clock.now()))

    def redeploy(self) -> str:
        """Reload the team's handlers, as a deployment would, and return the version. State is kept.

        Raises whatever the handlers raise on import. All other code needs a restart.
        """
        return self._call_and_settle(self._redeploy)

    def _make_scheduler(self) -> Scheduler:
        return Scheduler(self.clock)

    def _make_faults(self) -> Faults:
        return Faults()

    def _make_functions(self, template: dict[str, Any]) -> Functions:
        return Functions(template, self.clock, self.backend)

    def _call_and_settle(self, work: Callable[[], T]) -> T:
        """Run `work`. With a manual clock, also wait for everything it triggers."""
        try:
            return self.scheduler.call(work)
        finally:
            if self.clock.is_manual:
                self.scheduler.wait_until_idle()

    def _reset(self) -> None:
        self.backend.reset()
        self.faults.clear()
        self.calls.counts.clear()
        self.outbox.sent.clear()
        self.websocket_api.close_all()
        parameters.clear_caches()  # type: ignore[no-untyped-call]
        self.scheduler.replace_sources(self._build(os.environ["POWERTOOLS_LOG_LEVEL"]))

    def _build(self, log_level: str) -> list[Source]:
        resolver = Resolver(self._template)
        make_resources(self._template, resolver, token=self._token)
        environment = resolver.resolve(self.functions.environment())
        # One thread, because moto is not thread-safe and only one activity runs at a time.
        self._set_environment(
            environment
            | {"POWERTOOLS_LOG_LEVEL": log_level, "SCANNER_THREADS": "1"}
            | {"HANDLERS_MODULE": self._handlers_module, "PROVIDERS": "openai,anthropic,bedrock"}
            | {
                "LIVE_URL": "/live",
                "PAGE_MODULES": PLAYGROUND_MODULE,
                "OPERATOR_CHATS": OPERATOR_CHATS,
            }
            | {"LAMBDA_FUNCTIONS": self._lambda_functions, "CHANNELS": ",".join(read_chat_tokens())}
            | {"ADAPT_DELAYS": self._adapt_delays}
            | self._chat_environment
            | {"WEBHOOK_SECRET_ARNS": ",".join(make_webhook_secrets())}
        )
        self._register_adapters()
        return self._build_sources(resolver)

    def _build_sources(self, resolver: Resolver) -> list[Source]:
        queues = make_queue_sources(
            self._template,
            self.functions,
            resolver,
            self.backend,
            max_batches=None if self.clock.is_manual else MAX_BATCHES,
        )
        streams = make_stream_sources(
            self._template,
            self.functions,
            resolver,
            self.clock,
            self.backend,
            waits_for_batches=self.waits_for_batches,
        )
        self.schedules = make_schedules(
            self._template,
            self.functions,
            can_skip=self._can_skip_ticks,
            count_changes=lambda: self.calls.change_count,
        )
        # Due work comes before the processing of its stream records.
        return [*queues, *self.schedules, *streams]

    def _register_adapters(self) -> None:
        services.reset()
        registry.allow_loopback()
        for name in PLATFORMS:
            sender = registry.builtin_channels().get(name)
            registry.register_channel(name, OutboxChannel(name, self.outbox, sender))
        for name in SEND_ONLY:  # without their senders: the outbox is enough, and needs no network
            registry.register_channel(name, OutboxChannel(name, self.outbox, has_buttons=False))
        for name, provider in registry.builtin_providers().items():
            registry.register_provider(name, InstrumentedProvider(provider, self.calls))
        registry.register_provider("scripted", ScriptedProvider(self.calls))
        registry.register_connection_sender(self.websocket_api)
        registry.register_webhook_client(InstrumentedHttpClient(registry.http_client(), self.calls))

    def _redeploy(self) -> str:
        for name in list(sys.modules):
            if f"{name}.".startswith(f"{self._handlers_module}."):
                del sys.modules[name]
        invalidate_caches()
        self._register_adapters()
        self.calls.change_count += 1  # other code may have something to do
        registry.custom_handlers()
        return registry.deployed_version()

    def _can_skip_ticks(self, function: str) -> bool:
        """Return True while the clock is advanced, unless a fault is pending for the function."""
        can_skip = self.skips_idle_ticks and self.scheduler.is_advancing
        return can_skip and not self.faults.has_pending_for(function)

    def _set_environment(self, values: dict[str, Any]) -> None:
        for name, value in values.items():
            self._exit_stack.callback(_restore_variable, name, os.environ.get(name))
            os.environ[name] = str(value)


def _restore_variable(name: str, value: str | None) -> None:
    if value is None:
        os.environ.pop(name, None)
    else:
        os.environ[name] = value
