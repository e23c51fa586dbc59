"""Somebody is woken when something is wrong: every alarm has a signal that is really sent."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from duecourse.domain.alerts.rules import BUDGET_LEVELS, MAX_LATE_PERCENT, AlertRule, Signals
from duecourse.usecases.alerts.collect import CollectedSignals

from functions.alerts import app
from local.runtime.template import ROOT, load_template, resources_of_type

Template = dict[str, Any]
ALARMS = sorted(resources_of_type(load_template(), "AWS::CloudWatch::Alarm"))
TOPIC = [{"Ref": "AlarmTopic"}]
ABOVE, FROM = "GreaterThanThreshold", "GreaterThanOrEqualToThreshold"
# What each measures, and from where on it rings.
EXPECTED = {
    "ErrorRateAlarm": ("ErrorRatePercent", ABOVE, {"Ref": "ErrorRatePercent"}),
    "LatenessAlarm": ("LateRunsPercent", ABOVE, MAX_LATE_PERCENT),
    "BudgetHalfUsedAlarm": ("BudgetUsedPercent", FROM, BUDGET_LEVELS[0]),
    "BudgetNearlyUsedAlarm": ("BudgetUsedPercent", FROM, BUDGET_LEVELS[1]),
    "BudgetUsedAlarm": ("BudgetUsedPercent", FROM, BUDGET_LEVELS[2]),
    "BreakersOpenAlarm": ("BreakersOpen", ABOVE, 0),
    "DeadLettersStoredAlarm": ("DeadLettersStored", ABOVE, 0),
    "ItemsUnreadableAlarm": ("ItemsUnreadable", ABOVE, 0),
}
every_alarm = pytest.mark.parametrize("alarm", ALARMS)
every_measure = pytest.mark.parametrize("alarm", sorted(EXPECTED))


def _alarm(template: Template, name: str) -> dict[str, Any]:
    return resources_of_type(template, "AWS::CloudWatch::Alarm")[name]


def _variable(template: Template, function: str, name: str) -> Any:
    functions = resources_of_type(template, "AWS::Lambda::Function")
    return functions[function]["Environment"]["Variables"][name]


@every_alarm
def test_an_alarm_tells_the_topic_when_it_begins_and_when_it_is_over(
    template: Template, alarm: str
) -> None:
    found = _alarm(template, alarm)
    assert (found["AlarmActions"], found["OKActions"]) == (TOPIC, TOPIC)
    assert found["TreatMissingData"] == "notBreaching"
    assert found["AlarmDescription"]


def test_alarms_may_write_to_their_topic(template: Template) -> None:
    """Not if it is encrypted by the key that AWS manages: its policy leaves CloudWatch out."""
    assert "KmsMasterKeyId" not in resources_of_type(template, "AWS::SNS::Topic")["AlarmTopic"]


@every_measure
def test_what_is_measured_rings_from_where_the_parameters_say(
    template: Template, alarm: str
) -> None:
    found = _alarm(template, alarm)
    told = found["MetricName"], found["ComparisonOperator"], found["Threshold"]
    assert told == EXPECTED[alarm]


def test_operators_are_told_at_the_same_rate(template: Template) -> None:
    told = _variable(template, "AlertsFunction", "ERROR_RATE_PERCENT")
    assert told == _alarm(template, "ErrorRateAlarm")["Threshold"]


@every_measure
def test_an_alarm_listens_where_the_alerts_function_speaks(
    template: Template, alarm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = _alarm(template, alarm)
    assert found["Namespace"] == _variable(
        template, "AlertsFunction", "POWERTOOLS_METRICS_NAMESPACE"
    )
    named = {one["Name"]: one["Value"] for one in found["Dimensions"]}
    emitted = _emitted(monkeypatch)
    [declared] = emitted["_aws"]["CloudWatchMetrics"]
    assert declared["Dimensions"] == [list(named)]
    assert {name: emitted[name] for name in named} == named
    assert found["MetricName"] in emitted


@every_measure
def test_no_period_is_without_a_measurement(template: Template, alarm: str) -> None:
    """Ticks come a little early or late: one every period would leave gaps."""
    rules = resources_of_type(template, "AWS::Events::Rule").values()
    [rate] = [
        rule["ScheduleExpression"]
        for rule in rules
        for target in rule["Targets"]
        if target["Arn"] == {"Fn::GetAtt": ["AlertsFunction", "Arn"]}
    ]
    assert rate == "rate(5 minutes)"
    assert _alarm(template, alarm)["Period"] >= 2 * timedelta(minutes=5).total_seconds()


def test_every_dead_letter_queue_has_its_alarm(template: Template) -> None:
    queues = [
        name for name in resources_of_type(template, "AWS::SQS::Queue") if "DeadLetter" in name
    ]
    assert len(queues) >= 6
    assert [name for name in queues if f"{name}Alarm" not in ALARMS] == []


@pytest.mark.parametrize("alarm", [name for name in ALARMS if "DeadLetterQueue" in name])
def test_what_nobody_takes_from_a_dead_letter_queue_rings(template: Template, alarm: str) -> None:
    """Also what is tried in vain: it is hidden while it is."""
    found = _alarm(template, alarm)
    queue = alarm.removesuffix("Alarm")
    total, *counts = found["Metrics"]
    assert (total["Expression"], found["Threshold"]) == ("waiting + hidden", 0)
    named = {one["Id"]: one["MetricStat"]["Metric"] for one in counts}
    assert {name: one["MetricName"] for name, one in named.items()} == {
        "waiting": "ApproximateNumberOfMessagesVisible",
        "hidden": "ApproximateNumberOfMessagesNotVisible",
    }
    where = [{"Name": "QueueName", "Value": {"Fn::GetAtt": [queue, "QueueName"]}}]
    assert [one["Dimensions"] for one in named.values()] == [where, where]
    assert [one["ReturnData"] for one in counts] == [False, False]


@pytest.mark.parametrize("alarm", [name for name in ALARMS if "DeadLetterQueue" in name])
def test_a_dead_letter_queue_has_time_to_be_emptied_before_it_rings(
    template: Template, alarm: str
) -> None:
    """Time for a second try, and some more."""
    found = _alarm(template, alarm)
    hidden = resources_of_type(template, "AWS::SQS::Queue")[alarm.removesuffix("Alarm")][
        "VisibilityTimeout"
    ]
    period = {one["MetricStat"]["Period"] for one in found["Metrics"][1:]}
    assert period == {300}
    assert found["EvaluationPeriods"] * 300 > 2 * hidden


@pytest.mark.parametrize("function", ["ScannerFunction", "WorkerFunction", "AlertsFunction"])
def test_a_function_that_must_not_fail_rings_if_it_does(template: Template, function: str) -> None:
    found = _alarm(template, f"{function.removesuffix('Function')}ErrorsAlarm")
    assert (found["Namespace"], found["MetricName"]) == ("AWS/Lambda", "Errors")
    assert found["Dimensions"] == [{"Name": "FunctionName", "Value": {"Ref": function}}]
    assert (found["Statistic"], found["Threshold"], found["Period"]) == ("Sum", 1, 300)


def test_the_page_on_operations_names_every_alarm_and_every_alert() -> None:
    page = (ROOT / "docs" / "operations.md").read_text()
    named = [name for name in ALARMS if "DeadLetterQueue" not in name]
    assert [name for name in named if f"`{name}`" not in page] == []
    assert [rule for rule in AlertRule if f"| `{rule}" not in page] == []
    assert [name for name, _, _ in EXPECTED.values() if f"`{name}`" not in page] == []


def _emitted(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the function writes for CloudWatch, where all is well."""
    monkeypatch.setattr(app.metrics.provider, "namespace", "Duecourse/test")
    app._add_metrics(CollectedSignals(Signals(now=datetime(2026, 2, 17, 12, tzinfo=UTC)), {}))
    try:
        return dict(json.loads(json.dumps(app.metrics.serialize_metric_set())))
    finally:
        app.metrics.clear_metrics()
