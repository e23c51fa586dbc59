"""Write measured figures into the tables of README.md and docs/benchmarks.md."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bench.bill import Bill
from bench.reminders import Due
from bench.scenario import Batches
from local.runtime.template import ROOT

if TYPE_CHECKING:
    from bench.cost import Costs

PAGES = ("README.md", "docs/benchmarks.md")
COMMAND = "`make bench-cost`"
REMINDER_ROW = "one reminder, from create to delivered, with run and history"
RETRY_ROW = "one retry of it, with the error log and its statistics"
_IDLE_TOTAL = re.compile(r"\$[\d.]+ a month")


def figures(costs: Costs) -> dict[str, str]:
    """Return the cells of the second column by those of the first."""
    everyday, random = (costs.reminders[due] for due in Due)
    low, high = (costs.ranges[size].dollars for size in (Batches.FULL, Batches.OF_ONE))
    return {
        REMINDER_ROW: _units(everyday),
        "a million reminders on AWS (us-east-1), all in": (
            f"${everyday.dollars:.2f} at whole minutes (${low:.2f} to ${high:.2f} by the size of"
            f" batches), ${random.dollars:.2f} at random seconds"
        ),
        "the same while a rule of the event bus matches every event": (
            f"${costs.with_rule.dollars:.2f} at whole minutes"
        ),
        "a successful action of a program, with its history and audit entry": _units(costs.action),
        RETRY_ROW: _units(costs.retry),
        "a successful action from chat, with its notification": _units(costs.chat_action),
        "one retry of that, with one more notification": _units(costs.chat_retry),
        "a failed attempt of it, without the retry": _priced(costs.one_failure),
        "one of ten such attempts that fail at once": _priced(costs.batched_failure),
        "an idle stack on AWS (us-east-1, before free tiers)": _month(costs),
    }


def _month(costs: Costs) -> str:
    return f"${sum(charge.dollars for charge in costs.idle):.2f} a month"


def renew(costs: Costs) -> None:
    """Replace the figures in the rows that the pages have. A page need not have all rows."""
    for page in PAGES:
        path = ROOT / page
        text = path.read_text(encoding="utf-8")
        for label, figure in figures(costs).items():
            text = replace_figure(text, label, figure)
        text = _IDLE_TOTAL.sub(_month(costs), text)
        path.write_text(text, encoding="utf-8")


def replace_figure(text: str, label: str, figure: str) -> str:
    row = re.compile(rf"^\| {re.escape(label)} \| .* \| {COMMAND} \|$", re.MULTILINE)
    return row.sub(lambda _: f"| {label} | {figure} | {COMMAND} |", text)


def _priced(bill: Bill) -> str:
    return f"{_units(bill)}; ${bill.dollars:.2f} a million"


def _units(bill: Bill) -> str:
    total = bill.total
    return (
        f"{total['write_units']:.1f} write units, {total['read_units']:.1f} read units,"
        f" {total['sqs_requests']:.1f} SQS requests"
    )
