"""Run the template's functions in this process, as Lambda would."""

from __future__ import annotations

import inspect
import logging
import os
import uuid
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from importlib import import_module
from types import ModuleType
from typing import Any

from aws_lambda_powertools.shared.constants import METRICS_NAMESPACE_ENV, POWERTOOLS_LOG_LEVEL_ENV
from duecourse.adapters.runtime.unreadable_items import reports_unreadable

from local.runtime.aws_backend import AwsBackend
from local.runtime.call_interceptor import attribute_calls_to
from local.runtime.clock import LocalClock
from local.runtime.dry_run import DryRun, SilentReporter, read_soonest_due, run_dry
from local.runtime.template import ACCOUNT, ALIAS, REGION, resources_of_type
from local.testing.faults import SimulatedCrash, short_name

logger = logging.getLogger("duecourse.local")
_drop_unreadable = reports_unreadable(SilentReporter(), SilentReporter())


class InvocationError(Exception):
    """The function raised an error, or was killed by a fault."""


class ThrottledInvocationError(InvocationError):
    """Lambda did not start the function, because its concurrency is used up."""


class UnknownFunctionError(Exception):
    pass


@dataclass(frozen=True)
class Context:
    """Lambda's context object of one invocation."""

    function_name: str
    memory_limit_in_mb: int
    deadline: datetime
    clock: LocalClock
    function_version: str = "$LATEST"
    log_group_name: str = "local"
    log_stream_name: str = "local"
    aws_request_id: str = field(default_factory=lambda: str(uuid.uuid4()))

    @property
    def invoked_function_arn(self) -> str:
        return f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:{self.function_name}:{ALIAS}"

    def get_remaining_time_in_millis(self) -> int:
        left = self.deadline - self.clock.now()
        return max(0, int(left.total_seconds() * 1000))


class Functions:
    def __init__(self, template: dict[str, Any], clock: LocalClock, backend: AwsBackend) -> None:
        self._clock = clock
        self._backend = backend
        self._properties = resources_of_type(template, "AWS::Lambda::Function")
        self._ids = {short_name(name): name for name in self._properties}
        self.on_invoke: Callable[[str], None] | None = None
        self.on_error: Callable[[str, Exception], None] | None = None
        self.metrics: defaultdict[str, list[float]] = defaultdict(list)

    @property
    def names(self) -> Mapping[str, str]:
        """Return the logical ids in the template by short name."""
        return self._ids

    def environment(self) -> dict[str, Any]:
        """Return one environment for all functions, since they share a process."""
        merged: dict[str, Any] = {}
        for properties in self._properties.values():
            merged |= properties["Environment"]["Variables"]
        return merged

    def load(self) -> None:
        """Import every handler, as in a warm container."""
        for name in self._ids:
            read_environment_again(self._load_handler(name)[0])

    def invoke(self, function: str, event: Any) -> Any:
        """Return the handler's result.

        Raises InvocationError where Lambda reports a function error.
        """
        name = short_name(function)
        if name not in self._ids:
            raise UnknownFunctionError(
                f"template.yaml has no function {function}; it has: {', '.join(sorted(self._ids))}"
            )
        module, attribute = self._load_handler(name)
        if self.on_invoke is not None:
            self.on_invoke(name)
        # Those of invocations that sleep: Powertools prints the values after the hundredth.
        self._collect_metrics(module)
        try:
            with attribute_calls_to(name):
                return getattr(module, attribute)(event, self._context(name))
        except SimulatedCrash:
            logger.info("%s was killed by a fault", self._ids[name])
            raise InvocationError(f"{self._ids[name]} was killed") from None
        except Exception as error:
            logger.info("%s failed", self._ids[name], exc_info=True)
            if self.on_error is not None:
                self.on_error(name, error)
            raise InvocationError(f"{type(error).__name__}: {error}") from error
        finally:
            self._collect_metrics(module)

    def run_dry(self, function: str, at: datetime) -> DryRun:
        """Return what the function would do on a tick at `at`. Nothing is changed or recorded."""
        name = short_name(function)
        module, attribute = self._load_handler(name)
        handler = _drop_unreadable(inspect.unwrap(getattr(module, attribute)))
        try:
            reply = run_dry(lambda: handler({}, self._context(name)), at, self._backend)
            metrics = module.metrics.provider.metric_set
            return DryRun(reply, {metric: one["Value"] for metric, one in metrics.items()})
        finally:
            module.metrics.clear_metrics()

    def guess_next_effect(self) -> datetime | None:
        """Return when the next open task is due: that is where most ticks have an effect."""
        read = _drop_unreadable(lambda _event, _context: read_soonest_due(self._backend))
        return read(None, None)

    def _load_handler(self, name: str) -> tuple[ModuleType, str]:
        module, _, attribute = self._properties[self._ids[name]]["Handler"].rpartition(".")
        return import_module(f"functions.{module}"), attribute

    def _collect_metrics(self, module: ModuleType) -> None:
        """Move the module's metrics to ours: Powertools shares them within a process."""
        if (found := getattr(module, "metrics", None)) is not None:
            for metric, value in found.provider.metric_set.items():
                self.metrics[metric].extend(value["Value"])
            found.clear_metrics()

    def _context(self, name: str) -> Context:
        properties = self._properties[self._ids[name]]
        return Context(
            function_name=self._ids[name],
            memory_limit_in_mb=properties["MemorySize"],
            deadline=self._clock.now() + timedelta(seconds=properties["Timeout"]),
            clock=self._clock,
        )


def read_environment_again(module: ModuleType) -> None:
    """Give Powertools the settings that it reads on import.

    The module may have been imported before the stack set them. Without a namespace every
    invocation that writes metrics would fail at its end.
    """
    if (metrics := getattr(module, "metrics", None)) is not None:
        metrics.provider.namespace = os.environ[METRICS_NAMESPACE_ENV]
    if (found := getattr(module, "logger", None)) is not None:
        found.setLevel(os.environ[POWERTOOLS_LOG_LEVEL_ENV])
