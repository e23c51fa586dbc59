"""Measure what a reminder, an action and an idle stack cost on AWS. Exit code 1 over a target."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Any, NoReturn

from bench import cost_report, documents
from bench.actions import (
    APART,
    AT_ONCE,
    CHAT,
    NETWORK_ERROR,
    measure_actions,
    measure_failures,
)
from bench.bill import Bill, make_bill
from bench.idle import Charge, measure_idle
from bench.meter import Meter
from bench.prices import Pricing
from bench.reminders import INTERVAL, Due, measure_reminders
from bench.scenario import Batches
from bench.targets import (
    ACTION,
    BATCHED_FAILURE_TARGET,
    DOLLAR_TARGETS,
    REMINDER,
    RETRY,
    UNIT_TARGETS,
    Comparison,
)
from local.runtime.template import load_template

REMINDERS = 500
REMINDERS_PER_RANGE = 200
ACTIONS = 100
CHAT_ACTIONS = 20
FAILURES = 40
FAILURES_APART = 20  # all fail before the first retry
FAILURES_AT_ONCE = 10


@dataclass(frozen=True)
class Costs:
    """All that `make bench-cost` measures.

    `ranges` are reminders at whole minutes with other sizes of batches. `with_rule` are reminders
    while a rule of the event bus matches every event. `action` and `retry` are of actions that a
    program creates, of which nobody is notified; `chat_action` and `chat_retry` of those from chat.
    `one_failure` and `batched_failure` are what a failed attempt costs without its retry, alone and
    as one of ten at once.
    """

    reminders: dict[Due, Bill]
    ranges: dict[Batches, Bill]
    with_rule: Bill
    action: Bill
    retry: Bill
    chat_action: Bill
    chat_retry: Bill
    one_failure: Bill
    batched_failure: Bill
    idle: list[Charge]

    def compare_with_targets(self) -> list[Comparison]:
        bills = {
            REMINDER: self.reminders[Due.WHOLE_MINUTES],
            ACTION: self.action,
            RETRY: self.retry,
        }
        units = [
            Comparison(f"{name}: {column.replace('_', ' ')}", bills[name].total[column], most)
            for name, targets in UNIT_TARGETS.items()
            for column, most in targets.items()
        ]
        dollars = [
            Comparison(f"dollars a million, {due}", bill.dollars, DOLLAR_TARGETS[due])
            for due, bill in self.reminders.items()
        ]
        batched = self.batched_failure.dollars / self.one_failure.dollars
        label = "ten failures at once: the price of each, as a part of one alone"
        return [*units, *dollars, Comparison(label, batched, BATCHED_FAILURE_TARGET)]

    def to_json(self) -> dict[str, Any]:
        comparisons = self.compare_with_targets()
        return {
            "reminders": {str(due): bill.to_json() for due, bill in self.reminders.items()},
            "ranges": {str(size): bill.to_json() for size, bill in self.ranges.items()},
            "with_rule": self.with_rule.to_json(),
            "action": self.action.to_json(),
            "retry": self.retry.to_json(),
            "chat_action": self.chat_action.to_json(),
            "chat_retry": self.chat_retry.to_json(),
            "one_failure": self.one_failure.to_json(),
            "one_of_ten_failures": self.batched_failure.to_json(),
            "idle": {
                "dollars_per_month": sum(charge.dollars for charge in self.idle),
                "charges": [asdict(charge) for charge in self.idle],
            },
            "targets": [{**asdict(one), "is_met": one.is_met} for one in comparisons],
            "over_target": [one.label for one in comparisons if not one.is_met],
        }


@dataclass(frozen=True)
class Measurement:
    """`note` receives what is being measured."""

    pricing: Pricing
    note: Callable[[str], None]

    def bill(self, label: str, count: int, measure: Callable[..., Meter], **options: Any) -> Bill:
        self.note(f"measuring {count} {label}")
        return make_bill(measure(count, **options).usage, count, self.pricing)

    def actions(self, label: str, count: int, **options: Any) -> Bill:
        return self.bill(f"actions, {label}", count, measure_actions, **options)

    def retries(self, label: str, count: int, **options: Any) -> Bill:
        """Return what a failure and its retry add to the actions."""
        done = self.actions(f"successful {label}", count, **options)
        return self.actions(f"failing {label}", count, error=NETWORK_ERROR, **options).minus(done)

    def failed_attempts(self, label: str, count: int, interval: timedelta) -> Bill:
        """Return what the attempts cost, without the creation of their tasks."""
        created, failed = (
            self.bill(
                f"actions, {what} {label}",
                count,
                measure_failures,
                interval=interval,
                is_executed=what == "failing",
            )
            for what in ("created", "failing")
        )
        return failed.minus(created)


def measure_costs(
    reminders: int = REMINDERS, note: Callable[[str], None] = lambda _: None
) -> Costs:
    """Return the costs. `note` receives what is being measured."""
    measured = Measurement(Pricing(load_template()), note)
    bill, few = measured.bill, min(reminders, REMINDERS_PER_RANGE)
    return Costs(
        reminders={
            due: bill(f"reminders at {due}", reminders, measure_reminders, due=due) for due in Due
        },
        ranges={
            size: bill(f"reminders, {size}", few, measure_reminders, batches=size)
            for size in (Batches.OF_ONE, Batches.FULL)
        },
        with_rule=bill("reminders with a bus rule", few, measure_reminders, has_bus_rule=True),
        action=measured.actions(
            "a thousand an hour", ACTIONS, interval=INTERVAL, has_idle_ticks=True
        ),
        retry=measured.retries("by the network", FAILURES),
        chat_action=measured.actions("from chat", CHAT_ACTIONS, interval=INTERVAL, channel=CHAT),
        chat_retry=measured.retries("from chat", CHAT_ACTIONS, channel=CHAT),
        one_failure=measured.failed_attempts("one by one", FAILURES_APART, APART),
        batched_failure=measured.failed_attempts("at once", FAILURES_AT_ONCE, AT_ONCE),
        idle=measure_idle(),
    )


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    options = _parser().parse_args(arguments)
    costs = measure_costs(options.tasks, note=lambda text: print(text, file=sys.stderr))
    if options.readme:
        documents.renew(costs)
    if options.json:
        print(json.dumps(costs.to_json(), indent=2))
    else:
        print("\n".join(cost_report.format_costs(costs)))
    sys.exit(0 if all(one.is_met for one in costs.compare_with_targets()) else 1)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="bench.cost", description=__doc__)
    parser.add_argument(
        "--tasks", type=int, default=REMINDERS, help=f"how many reminders; default: {REMINDERS}"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument(
        "--readme",
        action="store_true",
        help="also write the figures into README.md and docs/benchmarks.md",
    )
    return parser


if __name__ == "__main__":
    main()
