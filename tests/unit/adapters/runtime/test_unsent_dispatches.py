"""Dispatches that could not be sent are logged and counted once, by the function that sent them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

import pytest
from duecourse.adapters.aws.sqs import LaneWorkQueue
from duecourse.adapters.runtime.unreadable_items import reports_unreadable
from duecourse.domain.dispatch.timing import Dispatch

from tests.support.builders.moments import NOW
from tests.support.fakes.queues import ListQueue


class Report:
    def __init__(self) -> None:
        self.warnings: list[tuple[object, dict[str, Any]]] = []
        self.metrics: list[tuple[str, float]] = []
        self.flushed = 0

    def warning(self, msg: object, **fields: Any) -> None:
        self.warnings.append((msg, fields))

    def error(self, msg: object, **fields: Any) -> None:
        raise NotImplementedError

    def add_metric(self, name: str, unit: str, value: float) -> None:
        assert unit == "Count"
        self.metrics.append((name, value))

    def flush_metrics(self) -> None:
        self.flushed += 1


class FailingQueue(ListQueue):
    def send(self, dispatches: Iterable[Dispatch], *, now: datetime) -> int:  # noqa: ARG002
        raise TimeoutError("no answer " + "x" * 1_000)


@pytest.mark.parametrize("has_to_flush", [True, False])
def test_an_unsent_dispatch_is_reported_once(*, has_to_flush: bool) -> None:
    report = Report()
    queue = LaneWorkQueue(FailingQueue(), FailingQueue())

    @reports_unreadable(report, report, has_to_flush=has_to_flush)
    def handle(event: int, _context: Any) -> int:
        for n in range(event):
            queue.try_send(Dispatch(NOW, f"task-{n}"), now=NOW)
        return event

    assert [handle(2, None), handle(0, None)] == [2, 0]
    assert [fields["task_id"] for _, fields in report.warnings] == ["task-0", "task-1"]
    message, fields = report.warnings[0]
    assert message == "dispatch_not_sent"
    assert fields["error"].startswith("TimeoutError: no answer")
    assert len(fields["error"]) == 300
    assert report.metrics == [("DispatchesNotSent", 2)]
    assert report.flushed == (1 if has_to_flush else 0)
