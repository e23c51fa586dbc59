"""Format the costs as a table for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from bench import prices
from bench.bill import COLUMNS, Bill
from bench.idle import format_idle
from bench.meter import POLLER
from bench.reminders import Due
from bench.targets import ACTION, REMINDER, RETRY, UNIT_TARGETS, Comparison

if TYPE_CHECKING:
    from bench.cost import Costs

COMPONENT_LABELS = {
    "api": "create (api)",
    "authorizer": "authorize (authorizer)",
    "scanner": "dispatch (scanner)",
    POLLER: "Lambda's poller",
    "worker": "run (worker)",
    "failure": "decide (failure)",
    "journal": "history (journal)",
    "notifier": "notify (notifier)",
    "live": "live events (live)",
    "sweeper": "recover (sweeper)",
    "alerts": "alerts (alerts)",
}
_MIN_FIGURE = 0.005  # smaller figures are left out of the breakdown by item
_TITLES = ("write units", "read units", "SQS requests", "invocations")


def format_costs(costs: Costs) -> Iterator[str]:
    everyday = costs.reminders[Due.WHOLE_MINUTES]
    yield f"{everyday.tasks:,} reminders over HTTP, a thousand due an hour, each delivered once."
    yield "Counted from the requests, idle ticks included. Transactions count an index once."
    yield ""
    for name, bill in ((REMINDER, everyday), (ACTION, costs.action), (RETRY, costs.retry)):
        yield from _format_bill(name, bill)
    yield from _format_chat(costs)
    yield from _format_range(costs)
    yield from _format_failures(costs)
    yield from _format_dollars(costs)
    yield from format_idle(costs.idle)
    yield ""
    yield from _format_targets(costs.compare_with_targets())


def _format_bill(name: str, bill: Bill) -> Iterator[str]:
    yield _row(f"{name}, each", _TITLES)
    ranks = {label: rank for rank, label in enumerate(COMPONENT_LABELS)}
    for function in sorted(bill.components, key=lambda one: ranks.get(one, len(ranks))):
        figures = bill.components[function]
        yield _row(COMPONENT_LABELS.get(function, function), _cells(figures))
        for (owner, kind), units in sorted(bill.items.items()):
            if owner == function and max(map(abs, units.values())) >= _MIN_FIGURE:
                yield _row(f"  {kind}", _cells(units))
    yield _row("total", _cells(bill.total))
    targets = UNIT_TARGETS[name]
    yield _row("target", [f"{targets[c]:.3f}" if c in targets else "" for c in COLUMNS])
    yield ""


def _format_chat(costs: Costs) -> Iterator[str]:
    yield _row("with notifications in chat", (*_TITLES, "$ a million"))
    for label, bill in ((ACTION, costs.chat_action), (RETRY, costs.chat_retry)):
        yield _row(label, [*_cells(bill.total), f"{bill.dollars:.2f}"])
    yield ""


def _format_range(costs: Costs) -> Iterator[str]:
    yield _row("a reminder by batches", (*_TITLES, "$ a million"))
    for label, bill in costs.ranges.items():
        yield _row(str(label), [*_cells(bill.total), f"{bill.dollars:.2f}"])
    yield ""


def _format_failures(costs: Costs) -> Iterator[str]:
    yield _row("a failed attempt", (*_TITLES, "$ a million"))
    for label, bill in (("alone", costs.one_failure), ("one of ten", costs.batched_failure)):
        yield _row(label, [*_cells(bill.total), f"{bill.dollars:.2f}"])
    yield ""


def _format_dollars(costs: Costs) -> Iterator[str]:
    bills = {
        **{str(due): bill for due, bill in costs.reminders.items()},
        "with a bus rule": costs.with_rule,
    }
    yield "Dollars per million reminders (us-east-1, on demand), all in:"
    yield _row("", [str(due) for due in bills])
    for name in costs.with_rule.prices:
        yield _row(f"  {name}", [f"{bill.prices[name]:.2f}" for bill in bills.values()])
    yield _row("  total", [f"{bill.dollars:.2f}" for bill in bills.values()])
    yield ""
    yield "With a bus rule: at whole minutes, while a rule matches every event of the bus."
    yield (
        f"Assumed: {prices.CPU_MS_PER_INVOCATION:g} ms of a vCPU for an invocation and"
        f" {prices.CPU_MS_PER_CALL:g} ms for each call to AWS,"
    )
    yield (
        f"{prices.NETWORK_MS_PER_CALL:g} ms of waiting for each call, a vCPU at"
        f" {prices.MB_PER_VCPU:,} MB. Slept time, memory and log lines are measured."
    )
    yield "Not counted: storage, backups, the idle cost below. Lambda reads streams for free."
    yield ""


def _format_targets(comparisons: Sequence[Comparison]) -> Iterator[str]:
    for one in comparisons:
        verdict = "ok" if one.is_met else "OVER TARGET"
        yield f"{one.label:<70}{one.figure:>8.2f}  at most {one.target:g}: {verdict}"


def _cells(figures: Mapping[str, float]) -> list[str]:
    return [f"{figures[column]:.3f}" if column in figures else "" for column in COLUMNS]


def _row(name: str, cells: Sequence[str]) -> str:
    return f"{name:<26}{''.join(f'{cell:>16}' for cell in cells)}".rstrip()
