"""What an idle stack costs a month: the charges add up, and the README states the total."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from typing import Any

import pytest

from bench.idle import Charge, format_idle, make_charges
from bench.meter import Usage
from local.runtime.template import ROOT, load_template

MINUTES_PER_MONTH = 730 * 60
MEASURE = (
    "import dataclasses, json; from bench.idle import measure_idle; "
    "print(json.dumps([dataclasses.asdict(one) for one in measure_idle()]))"
)


@pytest.fixture(scope="module")
def measured() -> dict[str, Charge]:
    """Measure in a process of its own: the functions of a process share Powertools' metrics, which
    the stacks of other tests have used."""
    run = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-W", "ignore", "-c", MEASURE],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    charges = [Charge(**one) for one in json.loads(run.stdout.splitlines()[-1])]
    return {charge.label: charge for charge in charges}


def test_every_scheduled_tick_is_counted(measured: dict[str, Charge]) -> None:
    ticks = MINUTES_PER_MONTH + 2 * MINUTES_PER_MONTH / 5
    assert measured["Lambda requests"].quantity == ticks


def test_an_idle_tick_writes_only_the_scan_cursor(measured: dict[str, Charge]) -> None:
    assert measured["DynamoDB write units"].quantity == MINUTES_PER_MONTH
    assert measured["DynamoDB read units"].quantity <= 16 * MINUTES_PER_MONTH


def test_an_idle_stack_costs_less_than_twelve_dollars(measured: dict[str, Charge]) -> None:
    assert sum(charge.dollars for charge in measured.values()) < 12


@pytest.mark.parametrize("page", ["README.md", "docs/benchmarks.md"])
def test_the_documents_state_the_measured_total(measured: dict[str, Charge], page: str) -> None:
    total = sum(charge.dollars for charge in measured.values())
    assert f"${total:.2f} a month" in (ROOT / page).read_text()


def _template_with(**resources: dict[str, Any]) -> dict[str, Any]:
    return {"Resources": resources}


def test_queues_alarms_and_secrets_come_from_the_template() -> None:
    template = _template_with(
        Fast={"Type": "AWS::SQS::Queue", "Properties": {}},
        Ordered={"Type": "AWS::SQS::Queue", "Properties": {"FifoQueue": True}},
        Unread={"Type": "AWS::SQS::Queue", "Properties": {}},
        OfFast=_mapping("Fast", "Arn"),
        OfOrdered=_mapping("Ordered", "Arn"),
        OfStream=_mapping("Tasks", "StreamArn"),
        Plain={"Type": "AWS::CloudWatch::Alarm", "Properties": {"MetricName": "Errors"}},
        Summed={"Type": "AWS::CloudWatch::Alarm", "Properties": {"Metrics": _metric_math()}},
        Token={"Type": "AWS::SecretsManager::Secret", "Properties": {}},
    )

    charges = {resource.label: resource for resource in make_charges(template, {}, metric_count=0)}

    polls_per_queue = 5 * 3 * MINUTES_PER_MONTH
    assert charges["SQS polls of 2 queues"].quantity == 2 * polls_per_queue
    dollars = polls_per_queue * (0.40e-6 + 0.50e-6)
    assert charges["SQS polls of 2 queues"].dollars == pytest.approx(dollars)
    assert (charges["CloudWatch alarms"].quantity, charges["secrets"].quantity) == (3, 1)


def _mapping(source: str, attribute: str) -> dict[str, Any]:
    arn = {"Fn::GetAtt": [source, attribute]}
    return {"Type": "AWS::Lambda::EventSourceMapping", "Properties": {"EventSourceArn": arn}}


def _metric_math() -> list[dict[str, Any]]:
    return [{"Expression": "a + b"}, {"MetricStat": {}}, {"MetricStat": {}}]


def test_a_table_key_is_requested_once_per_function_and_five_minutes() -> None:
    hour = {"scanner": Usage(tables={"Tasks", "State"}), "alerts": Usage(tables={"State"})}
    charges = {
        resource.label: resource for resource in make_charges(load_template(), hour, metric_count=0)
    }
    assert charges["KMS requests"].quantity == 3 * 12 * 730


def test_the_table_ends_with_its_total_and_the_assumptions() -> None:
    text = "\n".join(format_idle([Charge("secrets", 5, 2.0), Charge("GB of logs", 0.06, 0.03)]))
    for row in (r"secrets +5 +2\.00", r"GB of logs +0\.06 +0\.03", r"total +2\.03"):
        assert re.search(rf"^  {row}$", text, re.MULTILINE), row
    assert "5 pollers per queue" in text
