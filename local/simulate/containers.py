"""The containers that run the functions: each has its own modules, caches and clock."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from local.runtime.clock import LocalClock
from local.runtime.functions import read_environment_again
from local.simulate.connection_sender import ContainerSender
from local.simulate.lambda_client import LambdaClient
from local.simulate.module_copy import ModuleCopy
from local.simulate.outside_work import LAMBDA_NAME, OutsideWork
from local.simulate.receiver import Receiver
from local.simulate.receiver_connection import make_client
from local.testing.faults import Faults
from local.testing.lean_aws.botocore_hook import answer_leanly

FIRST_VERSION = "1"
ROLLOUT = timedelta(minutes=1)
MAX_WARM_CONTAINERS = 14
_LONG_AGO = datetime.min.replace(tzinfo=UTC)


@dataclass
class Deployment:
    """The versions of the code. `rollout_ends_at`: until then the one before may still start."""

    version: str = FIRST_VERSION
    previous: str = FIRST_VERSION
    rollout_ends_at: datetime = _LONG_AGO

    def replace(self, now: datetime) -> None:
        self.previous, self.version = self.version, str(int(self.version) + 1)
        self.rollout_ends_at = now + ROLLOUT


@dataclass
class Outside:
    """What all containers share outside AWS: the clock, the faults, and what was sent."""

    clock: LocalClock
    faults: Faults
    sent: list[Any]
    receiver: Receiver
    connection_sender: Any
    on_provider_call: Callable[[Any, Any, int | None], None]
    work: OutsideWork
    deployment: Deployment = field(default_factory=Deployment)


@dataclass(eq=False)
class Container:
    """`function` is the one whose caches it holds. `skew` is how far its clock is off.

    `version` is that of its code.
    """

    modules: ModuleCopy = field(default_factory=ModuleCopy)
    function: str | None = None
    is_busy: bool = False
    skew: timedelta = timedelta(0)
    version: str = FIRST_VERSION
    _configured: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        client_class = self.modules.load("duecourse.adapters.aws.json_client").JsonClient
        client_class._make_api_call = answer_leanly(client_class._make_api_call)
        clock = self.modules.load("duecourse.adapters.runtime.clock")
        clock.SystemClock.now = lambda _: clock.datetime.now(clock.UTC) + self.skew

    def start(self, function: str, outside: Outside) -> None:
        """Become a new container of `function`: nothing is cached."""
        self.function = function
        code = vars(self.modules.load("duecourse.adapters.runtime.code_version"))
        code["code_version"] = partial(_return_version, self.version)
        self.modules.clear_caches("duecourse.app")
        self.modules.load("duecourse.app.registry").reset()
        self.modules.clear_caches("functions")
        for name in ("unreadable_items", "unsent_dispatches"):
            self.modules.load(f"duecourse.adapters.runtime.{name}")._collected.clear()
        self.modules.load("aws_lambda_powertools.utilities.parameters").clear_caches()
        self._register_outside(outside)

    def load_handler(self, handler: str) -> tuple[ModuleType, str]:
        """Return the module and the name of the function in it, such as `worker.app.handler`."""
        name, _, attribute = handler.rpartition(".")
        module = self.modules.load(f"functions.{name}")
        if name not in self._configured:  # the environment is the same in all simulations
            read_environment_again(module)
            self._configured.add(name)
        return module, attribute

    @contextmanager
    def attribute_calls_to(self, function: str) -> Iterator[None]:
        interceptor = self.modules.load("local.runtime.call_interceptor")
        with interceptor.attribute_calls_to(function):
            yield

    def _register_outside(self, outside: Outside) -> None:
        load = self.modules.load
        registry, channels = load("duecourse.app.registry"), load("local.runtime.outbox")
        instrumented = load("local.testing.instrumented_clients")
        calls = load("local.runtime.call_interceptor").CallInterceptor(outside.faults)
        outbox = channels.Outbox(outside.clock, calls, outside.sent)
        known = load("duecourse.adapters.channels.registry")
        registry.allow_loopback()
        for name in (*known.PLATFORMS, *known.SEND_ONLY):
            registry.register_channel(name, channels.OutboxChannel(name, outbox))
        scripted = load("local.testing.scripted_provider").ScriptedProvider(
            calls, outside.on_provider_call
        )
        registry.register_provider("scripted", scripted)
        error_class = load("duecourse.domain.errors").ConnectionGoneError
        registry.register_connection_sender(ContainerSender(outside.connection_sender, error_class))
        client = make_client(self.modules, outside.receiver)
        registry.register_webhook_client(instrumented.InstrumentedHttpClient(client, calls))
        self._register_handlers(outside.work, calls)

    def _register_handlers(self, work: OutsideWork, calls: Any) -> None:
        """Register the team's own handlers, and let Lambda functions be those of the world."""
        load = self.modules.load
        invoker_class = load("duecourse.adapters.aws.lambda_invoker").LambdaInvoker
        invoker_class._client = lambda _self, _timeout: LambdaClient(work, calls)
        registry = load("duecourse.app.registry")
        lamp = load("local.simulate.lamp_handler").LampHandler(work, calls, self.version)
        registry.register_handler("lamp", lamp)
        registry.register_handler("remote-lamp", registry.remote(LAMBDA_NAME))


def _return_version(version: str, *_folders: Path) -> str:
    return version


class Containers:
    """The containers of a simulation. Their modules are kept for the next one."""

    def __init__(self) -> None:
        self._all: list[Container] = []
        self._used: list[Container] = []  # in this simulation, the longest unused first

    def retire_all(self) -> None:
        """Begin a new simulation without any container."""
        self._used.clear()
        for container in self._all:
            container.function, container.is_busy = None, False
            container.skew = timedelta(0)

    def correct_clocks(self) -> None:
        for container in self._all:
            container.skew = timedelta(0)

    def has_warm(self, function: str, version: str) -> bool:
        return bool(self._list_warm(function, version))

    def choose(self, function: str, version: str, *, prefers_new: bool) -> tuple[Container, bool]:
        """Return an idle container and whether it has to start: a warm one, if there is one.

        The choice must not depend on how many containers earlier simulations have made.
        """
        idle = [one for one in self._used if not one.is_busy]
        warm = self._list_warm(function, version)
        if warm and not prefers_new:
            chosen = warm[-1]
        elif len(self._used) < MAX_WARM_CONTAINERS or not idle:
            chosen = self._next_unused()
        else:
            chosen = idle[0]
        self._used = [*(one for one in self._used if one is not chosen), chosen]
        return chosen, prefers_new or chosen not in warm

    def _list_warm(self, function: str, version: str) -> list[Container]:
        kind = (function, version)
        return [
            one for one in self._used if not one.is_busy and (one.function, one.version) == kind
        ]

    def _next_unused(self) -> Container:
        if len(self._used) == len(self._all):
            self._all.append(Container())
        return next(one for one in self._all if one not in self._used)
