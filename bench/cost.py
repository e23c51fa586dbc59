"""What a reminder costs on AWS, and what an action writes. Exit code 1 over the targets."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import NoReturn

from bench.actions import Cost, measured_actions
from bench.meter import POLLER, Spent
from bench.prices import (
    ASSUMED_MS,
    ASSUMED_MS_PER_CALL,
    MEMORY_GB,
    PER_BUS_EVENT,
    PER_HTTP_API_CALL,
    prices,
)
from bench.reminders import measured

TARGETS = {"write_units": 12.0, "read_units": 1.5, "sqs_requests": 0.6, "dollars_per_million": 10.0}
COLUMNS = ("write_units", "read_units", "sqs_requests", "invocations")
PARTS = {
    "api": "create (api)",
    "authorizer": "who asks (authorizer)",
    "scanner": "dispatch (scanner)",
    POLLER: "run (Lambda's poller)",
    "worker": "run (worker)",
    "journal": "keep history (journal)",
    "notifier": "tell people (notifier)",
    "live": "push live (live)",
    "sweeper": "backstop (sweeper)",
    "alerts": "watch (alerts)",
}
MILLION = 1_000_000
WHOLE_MINUTES = "whole minutes"


@dataclass(frozen=True)
class Bill:
    """All figures are per task, the prices per million tasks."""

    tasks: int
    due_at: str
    parts: dict[str, dict[str, float]]
    total: dict[str, float]
    prices: dict[str, float]
    bus_events: float

    @property
    def dollars(self) -> float:
        return sum(self.prices.values())

    @property
    def over(self) -> list[str]:
        figures = {**self.total, "dollars_per_million": self.dollars}
        return [name for name, most in TARGETS.items() if figures[name] > most]


def bill(spent: Mapping[str, Spent], tasks: int, due_at: str) -> Bill:
    names = [name for name in PARTS if name in spent] + sorted(spent.keys() - PARTS.keys())
    parts = {n: {c: getattr(spent[n], c) / tasks for c in COLUMNS} for n in names}
    total = {column: sum(part[column] for part in parts.values()) for column in COLUMNS}
    dollars = {name: price / tasks * MILLION for name, price in prices(spent).items()}
    bus_events = sum(part.bus_events for part in spent.values()) / tasks
    return Bill(tasks, due_at, parts, total, dollars, bus_events)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    options = _parser().parse_args(arguments)
    print("measuring: a minute or two for a thousand reminders", file=sys.stderr)
    meter = measured(options.tasks, whole_minutes=not options.due_at_random_seconds)
    if meter.not_understood:
        sys.exit(f"bench: teach bench/meter.py to count {sorted(meter.not_understood)}")
    due_at = "random seconds" if options.due_at_random_seconds else WHOLE_MINUTES
    result = bill(meter.spent, options.tasks, due_at)
    actions = measured_actions()
    if options.json:
        print(json.dumps(_as_json(result) | {"actions": _actions_as_json(actions)}, indent=2))
    else:
        print(_as_text(result), "", *_actions_as_text(actions), sep="\n")
    sys.exit(1 if result.over and result.due_at == WHOLE_MINUTES else 0)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="bench.cost", description=__doc__)
    parser.add_argument("--tasks", type=int, default=1000, help="default: 1000")
    parser.add_argument("--json", action="store_true", help="for programs")
    parser.add_argument(
        "--due-at-random-seconds",
        action="store_true",
        help="spread the due times over all seconds: hardly a batch has two messages",
    )
    return parser


def _as_json(result: Bill) -> dict[str, object]:
    return {
        "tasks": result.tasks,
        "due_at": result.due_at,
        "per_task": {**result.parts, "total": result.total},
        "dollars_per_million": {**result.prices, "total": result.dollars},
        "api_gateway_dollars_per_million": PER_HTTP_API_CALL * MILLION,
        "bus_events_per_task": result.bus_events,
        "bus_dollars_per_million": PER_BUS_EVENT * MILLION * result.bus_events,
        "targets": TARGETS,
        "over_target": result.over,
    }


def _as_text(result: Bill) -> str:
    head = (
        f"{result.tasks:,} one-shot reminders over HTTP, due at {result.due_at} within an hour,\n"
        "each delivered once; counted from the requests, idle looks included. Per task:\n"
    )
    return "\n".join(
        [head, *_units(result), "", *_dollars(result), "", *_notes(), _verdict(result)]
    )


def _units(result: Bill) -> list[str]:
    lines = [_row("", ("write units", "read units", "SQS requests", "invocations"))]
    lines += [_figures(PARTS.get(n, n), part) for n, part in result.parts.items()]
    lines.append(_figures("total", result.total))
    lines.append(_row("target", [f"{TARGETS[c]:.3f}" if c in TARGETS else "" for c in COLUMNS]))
    return lines


def _dollars(result: Bill) -> list[str]:
    lines = ["Dollars per million tasks (us-east-1, on demand):"]
    lines += [f"  {name:<24}{dollars:>10.2f}" for name, dollars in result.prices.items()]
    lines.append(f"  {'total':<24}{result.dollars:>10.2f}")
    lines.append(f"  {'target':<24}{TARGETS['dollars_per_million']:>10.2f}")
    lines.append(_besides("HTTP API calls", PER_HTTP_API_CALL))
    lines.append(_besides("events on the bus", PER_BUS_EVENT * result.bus_events))
    return lines


def _besides(what: str, dollars: float) -> str:
    return f"  {f'besides: {what}':<26}{dollars * MILLION:>8.2f}"


def _notes() -> list[str]:
    assumed = ", ".join(f"{name} {ms} ms" for name, ms in ASSUMED_MS.items())
    return [
        f"Assumed at {MEMORY_GB:g} GB arm64: {ASSUMED_MS_PER_CALL} ms for each call to AWS, and",
        f"per invocation {assumed}.",
        "Not counted: the idle long polling of Lambda's pollers, which is a constant per queue and",
        "not per task; storage, backups, logs, Secrets Manager (a read in 30 s at most). Reading a",
        "stream is free for Lambda. BusEvents=failures leaves out what goes as it should.",
    ]


def _actions_as_json(actions: Mapping[str, Cost]) -> dict[str, dict[str, float]]:
    return {name: asdict(cost) for name, cost in actions.items()}


def _actions_as_text(actions: Mapping[str, Cost]) -> list[str]:
    """No target is set for these: what a provider charges is of another order."""
    lines = [_row("Actions, each", ("write units", "read units", "SQS requests"))]
    for name, cost in actions.items():
        cells = [f"{figure:.2f}" for figure in asdict(cost).values()]
        lines.append(_row(name, cells))
    return lines


def _verdict(result: Bill) -> str:
    """People set whole minutes: the targets are for those; anything else is there to compare."""
    if not result.over:
        return "Within all targets."
    over = f"OVER TARGET: {', '.join(result.over)}"
    return over if result.due_at == WHOLE_MINUTES else f"{over} (set for whole minutes)"


def _figures(name: str, figures: Mapping[str, float]) -> str:
    return _row(name, [f"{figures[column]:.3f}" for column in COLUMNS])


def _row(name: str, cells: Sequence[str]) -> str:
    return f"{name:<24}" + "".join(f"{cell:>14}" for cell in cells)


if __name__ == "__main__":
    main()
