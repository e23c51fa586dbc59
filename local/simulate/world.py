"""The simulated world: the whole stack in memory, on a clock and a source of chance of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any
from unittest.mock import patch

from duecourse.adapters.runtime import code_version
from duecourse.app import registry

from local.runtime.call_interceptor import Call
from local.runtime.queue_sources import QueueSource
from local.runtime.scheduler import Scheduler, Source
from local.runtime.schedules import Schedule
from local.runtime.stack import Stack
from local.runtime.stream_sources import StreamSource
from local.runtime.template import Resolver
from local.simulate.chance import Chance
from local.simulate.containers import Containers, Outside
from local.simulate.dead_letter_log import DeadLetterLog, dead_letter_next
from local.simulate.event_loop import EventLoop
from local.simulate.faults import DrawnFaults, Struck
from local.simulate.functions import ContainerFunctions, current_invocation
from local.simulate.hostile_sources import HostileQueue, HostileStream
from local.simulate.item_versions import ItemVersions
from local.simulate.lagging_indexes import let_indexes_lag
from local.simulate.outside_work import LAMBDA_NAME, OutsideWork
from local.simulate.receiver import Receiver
from local.simulate.refused_entries import RefusedEntries
from local.simulate.refused_notifications import RefusedNotifications
from local.simulate.seeded_process import capture_logs, seed_process
from local.simulate.settling_schedule import PACES, Pace, SettlingSchedule, find_soonest_due
from local.simulate.start import starts_at
from local.simulate.step_checks import StepChecks, invocation_number
from local.simulate.table_outages import TableOutages
from local.simulate.violation import Violation
from local.testing.faults import Faults
from local.testing.lean_aws.backend import LeanBackend
from local.testing.lean_aws.values import Item

TASKS, STATE, JOURNAL = "TasksTable", "StateTable", "JournalTable"
_LAST_MOMENT = 0.001  # seconds before the deadline
_containers = Containers()


class SimulatedStack(Stack):
    scheduler: EventLoop
    faults: DrawnFaults
    backend: LeanBackend
    outside: Outside
    functions: ContainerFunctions

    def __init__(
        self,
        chance: Chance,
        *,
        fault_names: frozenset[str],
        planned: Mapping[str, str] | None,
        waits: Mapping[str, float] | None = None,
        template: dict[str, Any],
    ) -> None:
        self._chance = chance
        self.seed = chance.seed
        self.starts_at = starts_at(chance.seed)
        self._fault_names = fault_names
        self._planned = planned
        self._waits = waits
        self.extra_sources: list[Source] = []
        self.trace = sha256()
        self.lines: list[str] = []
        self.calls_by_line: dict[int, Call] = {}
        self.call_count = 0
        self.faults_ended_at = self.starts_at
        self.is_settling = False  # most ticks of the schedules are left out
        self.log_lines: list[str] = []
        self.refused_notifications = RefusedNotifications()
        self.dead_letter_log = DeadLetterLog()
        self.step_checks = StepChecks(
            now=lambda: self.clock.now(),
            max_skew=lambda: self.functions.max_skew,
            report=self._record_violation,
        )
        super().__init__(
            is_clock_manual=True, starts_at=self.starts_at, template=template, backend=LeanBackend()
        )
        self._lambda_functions = LAMBDA_NAME
        self.item_versions = ItemVersions(self.faults.strike)
        self.skips_idle_ticks = False
        self.waits_for_batches = True

    @contextmanager
    def running(self) -> Iterator[None]:
        with seed_process(self._chance), self._versioned(), capture_logs(self.log_lines):
            self.start(log_level="INFO")
            self.calls.on_aws_call = self._record_call
            self._make_aws_hostile()
            try:
                yield
            finally:
                self.stop()

    def _make_aws_hostile(self) -> None:
        aws = self.backend.aws
        aws.before_call = TableOutages(self.faults, self.elapsed).check
        aws.sqs.before_entry = RefusedEntries(self.faults).check
        aws.dynamodb.table(TASKS).rewrite = self.item_versions.rewrite
        self.step_checks.watch(aws.dynamodb.table(TASKS), aws.dynamodb.table(STATE))
        self.dead_letter_log.watch(aws.dynamodb.table(JOURNAL))
        tables = aws.dynamodb.tables.values()
        let_indexes_lag(tables, self.faults.strike, lambda: self.clock.now().timestamp())

    def end_faults(self) -> None:
        self.faults.is_active = False
        _containers.correct_clocks()
        self.upgrade_tasks()
        self.faults_ended_at = self.clock.now()
        self.record("faults end")

    def upgrade_tasks(self) -> None:
        """Store every task in a form that this code can read."""
        tasks = list(self.backend.aws.dynamodb.table(TASKS).items.values())
        self.item_versions.upgrade(tasks, self._put_task)

    def _put_task(self, item: Item) -> None:
        self.backend.aws.call("dynamodb", "PutItem", {"TableName": TASKS, "Item": item})

    def send_message(self, queue: str, text: str) -> None:
        url = self.backend.aws.sqs.queue(queue).url
        self.backend.aws.call("sqs", "SendMessage", {"QueueUrl": url, "MessageBody": text})

    def dead_letter_next(self, queue: str) -> None:
        dead_letter_next(self.backend.aws.sqs, queue)

    def elapsed(self) -> timedelta:
        return self.clock.now() - self.starts_at

    def time_to_last_message(self) -> timedelta:
        """Return how long it takes until the last message can be received: some are days late."""
        queues = self.backend.aws.sqs.queues.values()
        times = (one.available_at for queue in queues for one in queue.messages)
        now = self.clock.now().timestamp()
        return timedelta(seconds=max(0.0, max(times, default=now) - now))

    def record(self, line: str) -> None:
        """Add a line to the trace, with the time."""
        text = f"{self.elapsed().total_seconds():.3f} {line}"
        self.lines.append(text)
        self.trace.update(text.encode())

    def _record_violation(self, violation: Violation) -> None:
        self.record(f"violated: {violation.invariant}: {violation.text}")

    def _make_scheduler(self) -> Scheduler:
        return EventLoop(self.clock, lambda: self.backend.aws.change_count)

    def _make_faults(self) -> Faults:
        faults = DrawnFaults(
            self._chance,
            self._fault_names,
            sleep=self._sleep,
            elapsed=self.elapsed,
            on_strike=self._record_fault,
            planned=self._planned,
        )
        faults.find_invocation = invocation_number
        faults.waits = self._waits
        return faults

    def _make_functions(self, template: dict[str, Any]) -> ContainerFunctions:
        functions = ContainerFunctions(template, self.clock, self.backend)
        _containers.retire_all()
        functions.containers, functions.faults = _containers, self.faults
        self.outside = functions.outside = Outside(
            clock=self.clock,
            faults=self.faults,
            sent=self.outbox.sent,
            receiver=Receiver(self.clock, self.faults.strike, self.faults.sleep),
            connection_sender=self.websocket_api,
            on_provider_call=self.step_checks.check_call,
            work=OutsideWork(self.clock.now),
        )
        return functions

    def redeploy_all(self) -> None:
        """Deploy another version: invocations get it, those at work go on with the old one."""
        self.outside.deployment.replace(self.clock.now())
        registry.deployed_version.cache_clear()
        self.record(f"deployed version {self.outside.deployment.version}")

    def _versioned(self) -> AbstractContextManager[Any]:
        """Let the process's own modules, which find idle ticks, be of the deployed version."""
        return patch.object(
            code_version, "code_version", lambda *_folders: self.outside.deployment.version
        )

    def _build_sources(self, resolver: Resolver) -> list[Source]:
        sources = super()._build_sources(resolver)
        return [*map(self._make_hostile, sources), *self.extra_sources]

    def _make_hostile(self, source: Source) -> Source:
        strike = self.faults.strike
        if isinstance(source, Schedule):
            pace = PACES.get(source.state.function, Pace())
            return SettlingSchedule(source, lambda: self.is_settling, self._find_soonest_due, pace)
        if isinstance(source, StreamSource):
            return HostileStream(source, f"{source.table} for {source.function}", strike)
        if isinstance(source, QueueSource):
            sqs, name = self.backend.aws.sqs, source.name
            return HostileQueue(
                source, name, lambda: sqs.queue(name).messages, strike, name.endswith(".fifo")
            )
        return source

    def _find_soonest_due(self) -> datetime | None:
        return find_soonest_due(self.backend.aws.dynamodb.table(TASKS))

    def _sleep(self, seconds: float, can_time_out: bool) -> bool:
        """Let the current invocation sleep, at most until its deadline; return whether that came.

        If it may not time out, it sleeps until the last moment before the deadline.
        """
        invocation = current_invocation()
        if invocation is None:
            return False
        left = (invocation.deadline - self.clock.now()).total_seconds()
        is_timeout = can_time_out and seconds >= left
        self.scheduler.sleep(max(0.0, left if is_timeout else min(seconds, left - _LAST_MOMENT)))
        if is_timeout:
            self.record(f"{invocation.function} timed out")
            self.faults.note_failed_call(invocation.function)
        return is_timeout

    def _record_fault(self, struck: Struck) -> None:
        invocation = current_invocation()
        place = f" in {invocation.function} {invocation.number}" if invocation else ""
        self.record(f"fault: {struck.name} at {struck.point}{place}")

    def _record_call(self, call: Call) -> None:
        if call.function is not None:
            self.call_count += 1
            self.refused_notifications.note_call(call)
            self.dead_letter_log.note_call(call, self.clock.now())
            invocation = current_invocation()
            number = invocation.number if invocation else 0
            self.calls_by_line[len(self.lines)] = call
            self.record(f"{call.function} {number} {call.service}.{call.operation}")
            self.trace.update(call.raw_bytes)
