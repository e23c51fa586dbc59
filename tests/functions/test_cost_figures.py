"""The documents state what `make bench-cost` measures."""

from __future__ import annotations

import re

import pytest

from bench.actions import NETWORK_ERROR, measure_actions
from bench.bill import Bill, make_bill
from bench.cost import FAILURES
from bench.documents import COMMAND, REMINDER_ROW, RETRY_ROW, replace_figure
from bench.prices import Pricing
from bench.reminders import measure_reminders
from bench.targets import Comparison
from local.runtime.template import ROOT, load_template

COUNT = 200
# So few reminders carry a larger part of the idle ticks than those of the benchmark.
TICKS = {"write_units": 0.3, "read_units": 0.9, "sqs_requests": 0.3}


def _documented(page: str, label: str) -> dict[str, float]:
    row = re.search(rf"^\| {re.escape(label)} \| (.*) \| {COMMAND} \|$", _read(page), re.MULTILINE)
    assert row is not None, f"{page} has no row: {label}"
    numbers = [float(number) for number in re.findall(r"[\d.]+(?= [wrS])", row[1])]
    return dict(zip(TICKS, numbers, strict=True))


def _read(page: str) -> str:
    return (ROOT / page).read_text()


@pytest.fixture(scope="module")
def reminder() -> Bill:
    return make_bill(measure_reminders(COUNT).usage, COUNT, Pricing(load_template()))


@pytest.mark.parametrize("page", ["README.md", "docs/benchmarks.md"])
def test_the_documents_state_what_a_reminder_costs(reminder: Bill, page: str) -> None:
    for column, figure in _documented(page, REMINDER_ROW).items():
        assert abs(figure - reminder.total[column]) <= TICKS[column], f"{column}: renew {page}"


def test_the_documents_state_what_a_retry_costs() -> None:
    pricing = Pricing(load_template())
    failing, done = (
        make_bill(measure_actions(FAILURES, error).usage, FAILURES, pricing)
        for error in (NETWORK_ERROR, None)
    )
    retry = failing.minus(done).total

    for column, figure in _documented("docs/benchmarks.md", RETRY_ROW).items():
        assert figure == pytest.approx(retry[column], rel=0.15, abs=0.6), column


def test_a_figure_is_replaced_in_its_own_row_only() -> None:
    page = f"| a | 1 | {COMMAND} |\n| a | 1 | `make e2e` |\n| ab | 1 | {COMMAND} |"

    renewed = replace_figure(page, "a", "2 ($3)")

    assert renewed == f"| a | 2 ($3) | {COMMAND} |\n| a | 1 | `make e2e` |\n| ab | 1 | {COMMAND} |"


def test_a_target_is_met_at_most_at_its_figure() -> None:
    assert Comparison("units", 7.5, 7.5).is_met
    assert not Comparison("units", 7.51, 7.5).is_met
