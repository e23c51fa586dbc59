"""Measure what a reminder, an action and an idle stack cost on AWS. Exit code 1 over a target."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import NoReturn

from bench.actions import Cost, measure_actions
from bench.idle import Charge, format_idle, measure_idle
from bench.meter import POLLER, Usage
from bench.prices import (
    ASSUMED_MS,
    ASSUMED_MS_PER_CALL,
    MEMORY_GB,
    PER_BUS_EVENT,
    PER_HTTP_API_CALL,
    price_usage,
)
from bench.reminders import measure_reminders

TARGETS = {"write_units": 12.0, "read_units": 1.5, "sqs_requests": 0.6, "dollars_per_million": 10.0}
COLUMNS = ("write_units", "read_units", "sqs_requests", "invocations")
COMPONENT_LABELS = {
    "api": "create (api)",
    "authorizer": "authorize (authorizer)",
    "scanner": "dispatch (scanner)",
    POLLER: "run (Lambda's poller)",
    "worker": "run (worker)",
    "journal": "history (journal)",
    "notifier": "notify (notifier)",
    "live": "live events (live)",
    "sweeper": "recover (sweeper)",
    "alerts": "alerts (alerts)",
}
MILLION = 1_000_000
WHOLE_MINUTES = "whole minutes"


@dataclass(frozen=True)
class Bill:
    """All figures are per task; prices are per million tasks."""

    tasks: int
    due_at: str
    components: dict[str, dict[str, float]]
    total: dict[str, float]
    prices: dict[str, float]
    bus_events: float

    @property
    def dollars(self) -> float:
        return sum(self.prices.values())

    @property
    def exceeded_targets(self) -> list[str]:
        figures = {**self.total, "dollars_per_million": self.dollars}
        return [name for name, most in TARGETS.items() if figures[name] > most]


def make_bill(spent: Mapping[str, Usage], tasks: int, due_at: str) -> Bill:
    names = [name for name in COMPONENT_LABELS if name in spent] + sorted(
        spent.keys() - COMPONENT_LABELS.keys()
    )
    parts = {n: {c: getattr(spent[n], c) / tasks for c in COLUMNS} for n in names}
    total = {column: sum(part[column] for part in parts.values()) for column in COLUMNS}
    dollars = {name: price / tasks * MILLION for name, price in price_usage(spent).items()}
    bus_events = sum(part.bus_events for part in spent.values()) / tasks
    return Bill(tasks, due_at, parts, total, dollars, bus_events)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    options = _parser().parse_args(arguments)
    print("measuring, which takes a minute or two", file=sys.stderr)
    meter = measure_reminders(options.tasks, is_whole_minutes=not options.due_at_random_seconds)
    if meter.unknown_operations:
        sys.exit(f"bench/meter.py does not count {sorted(meter.unknown_operations)}")
    due_at = "random seconds" if options.due_at_random_seconds else WHOLE_MINUTES
    result = make_bill(meter.usage, options.tasks, due_at)
    actions, idle = measure_actions(), measure_idle()
    if options.json:
        others = {"actions": _actions_to_json(actions), "idle": _idle_to_json(idle)}
        print(json.dumps(_to_json(result) | others, indent=2))
    else:
        print(_to_text(result), "", *_action_lines(actions), "", *format_idle(idle), sep="\n")
    sys.exit(1 if result.exceeded_targets and result.due_at == WHOLE_MINUTES else 0)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="bench.cost", description=__doc__)
    parser.add_argument("--tasks", type=int, default=1000, help="how many reminders; default: 1000")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument(
        "--due-at-random-seconds",
        action="store_true",
        help="due at random seconds, so that hardly any batch has two messages",
    )
    return parser


def _to_json(result: Bill) -> dict[str, object]:
    return {
        "tasks": result.tasks,
        "due_at": result.due_at,
        "per_task": {**result.components, "total": result.total},
        "dollars_per_million": {**result.prices, "total": result.dollars},
        "api_gateway_dollars_per_million": PER_HTTP_API_CALL * MILLION,
        "bus_events_per_task": result.bus_events,
        "bus_dollars_per_million": PER_BUS_EVENT * MILLION * result.bus_events,
        "targets": TARGETS,
        "over_target": result.exceeded_targets,
    }


def _to_text(result: Bill) -> str:
    head = (
        f"{result.tasks:,} one-shot reminders over HTTP, due at {result.due_at} within an hour,\n"
        "each delivered once. Counted from the requests, idle ticks included. Per task:\n"
    )
    return "\n".join(
        [
            head,
            *_unit_lines(result),
            "",
            *_dollar_lines(result),
            "",
            *_note_lines(),
            _target_summary(result),
        ]
    )


def _unit_lines(result: Bill) -> list[str]:
    lines = [_row("", ("write units", "read units", "SQS requests", "invocations"))]
    lines += [
        _figures_row(COMPONENT_LABELS.get(n, n), part) for n, part in result.components.items()
    ]
    lines.append(_figures_row("total", result.total))
    lines.append(_row("target", [f"{TARGETS[c]:.3f}" if c in TARGETS else "" for c in COLUMNS]))
    return lines


def _dollar_lines(result: Bill) -> list[str]:
    lines = ["Dollars per million tasks (us-east-1, on demand):"]
    lines += [f"  {name:<24}{dollars:>10.2f}" for name, dollars in result.prices.items()]
    lines.append(f"  {'total':<24}{result.dollars:>10.2f}")
    lines.append(f"  {'target':<24}{TARGETS['dollars_per_million']:>10.2f}")
    lines.append(_extra_cost_line("HTTP API calls", PER_HTTP_API_CALL))
    lines.append(_extra_cost_line("events on the bus", PER_BUS_EVENT * result.bus_events))
    return lines


def _extra_cost_line(label: str, dollars: float) -> str:
    return f"  {f'plus: {label}':<26}{dollars * MILLION:>8.2f}"


def _note_lines() -> list[str]:
    assumed = ", ".join(f"{name} {ms} ms" for name, ms in ASSUMED_MS.items())
    return [
        f"Assumed at {MEMORY_GB:g} GB arm64: {ASSUMED_MS_PER_CALL} ms for each call to AWS, and",
        f"per invocation {assumed}.",
        "Not counted: storage, backups, logs, reads of secrets (at most one in 30 s), and the idle",
        "cost below. Lambda reads streams for free. BusEvents=failures publishes only failures.",
    ]


def _actions_to_json(actions: Mapping[str, Cost]) -> dict[str, dict[str, float]]:
    return {name: asdict(cost) for name, cost in actions.items()}


def _idle_to_json(charges: Sequence[Charge]) -> dict[str, object]:
    return {
        "dollars_per_month": sum(charge.dollars for charge in charges),
        "charges": [asdict(charge) for charge in charges],
    }


def _action_lines(actions: Mapping[str, Cost]) -> list[str]:
    """Return the lines for actions, which have no target: the provider's price dominates."""
    lines = [_row("Actions, each", ("write units", "read units", "SQS requests"))]
    for name, cost in actions.items():
        cells = [f"{figure:.2f}" for figure in asdict(cost).values()]
        lines.append(_row(name, cells))
    return lines


def _target_summary(result: Bill) -> str:
    """Summarise the targets.

    They apply to whole minutes, which people use; other runs only compare.
    """
    if not result.exceeded_targets:
        return "Within all targets."
    over = f"OVER TARGET: {', '.join(result.exceeded_targets)}"
    return over if result.due_at == WHOLE_MINUTES else f"{over} (set for whole minutes)"


def _figures_row(name: str, figures: Mapping[str, float]) -> str:
    return _row(name, [f"{figures[column]:.3f}" for column in COLUMNS])


def _row(name: str, cells: Sequence[str]) -> str:
    return f"{name:<24}" + "".join(f"{cell:>14}" for cell in cells)


if __name__ == "__main__":
    main()
