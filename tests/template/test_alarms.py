"""Every alarm watches a metric that is really emitted, and notifies the alarm topic."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from duecourse.domain.alerts.rules import BUDGET_LEVELS, MAX_LATE_PERCENT, AlertRule, Signals
from duecourse.usecases.alerts.collect import CollectedSignals

from functions.alerts import app
from local.runtime.template import ROOT, function_id, load_template, resources_of_type

Template = dict[str, Any]
ALARMS = sorted(resources_of_type(load_template(), "AWS::CloudWatch::Alarm"))
TOPIC = [{"Ref": "AlarmTopic"}]
ABOVE, FROM = "GreaterThanThreshold", "GreaterThanOrEqualToThreshold"
# The metric, comparison and threshold of each alarm.
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
every_metric_alarm = pytest.mark.parametrize("alarm", sorted(EXPECTED))


def _alarm(template: Template, name: str) -> dict[str, Any]:
    return resources_of_type(template, "AWS::CloudWatch::Alarm")[name]


def _variable(template: Template, function: str, name: str) -> Any:
    functions = resources_of_type(template, "AWS::Lambda::Function")
    return functions[function]["Environment"]["Variables"][name]


@every_alarm
def test_an_alarm_notifies_the_topic_when_it_starts_and_ends(
    template: Template, alarm: str
) -> None:
    properties = _alarm(template, alarm)
    assert (properties["AlarmActions"], properties["OKActions"]) == (TOPIC, TOPIC)
    missing = "breaching" if alarm.endswith("HeartbeatAlarm") else "notBreaching"
    assert properties["TreatMissingData"] == missing
    assert properties["AlarmDescription"]


def test_alarms_can_publish_to_their_topic(template: Template) -> None:
    """A topic encrypted with the AWS managed key would refuse CloudWatch."""
    key = resources_of_type(template, "AWS::SNS::Topic")["AlarmTopic"]["KmsMasterKeyId"]
    assert key == {"Fn::If": ["HasKmsKey", {"Ref": "KmsKeyArn"}, {"Ref": "AWS::NoValue"}]}


@every_metric_alarm
def test_an_alarm_has_the_threshold_of_its_parameter(template: Template, alarm: str) -> None:
    properties = _alarm(template, alarm)
    actual = properties["MetricName"], properties["ComparisonOperator"], properties["Threshold"]
    assert actual == EXPECTED[alarm]


def test_the_alerts_function_uses_the_threshold_of_the_alarm(template: Template) -> None:
    threshold = _variable(template, "AlertsFunction", "ERROR_RATE_PERCENT")
    assert threshold == _alarm(template, "ErrorRateAlarm")["Threshold"]


@every_metric_alarm
def test_an_alarm_watches_a_metric_of_the_alerts_function(
    template: Template, alarm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    properties = _alarm(template, alarm)
    assert properties["Namespace"] == _variable(
        template, "AlertsFunction", "POWERTOOLS_METRICS_NAMESPACE"
    )
    dimensions = {dimension["Name"]: dimension["Value"] for dimension in properties["Dimensions"]}
    metrics = emitted_metrics(monkeypatch)
    [directive] = metrics["_aws"]["CloudWatchMetrics"]
    assert directive["Dimensions"] == [list(dimensions)]
    assert {name: metrics[name] for name in dimensions} == dimensions
    assert properties["MetricName"] in metrics


@every_metric_alarm
def test_every_alarm_period_has_a_data_point(template: Template, alarm: str) -> None:
    """Ticks are a little early or late: with one tick per period there would be gaps."""
    rules = resources_of_type(template, "AWS::Events::Rule").values()
    [rate] = [
        rule["ScheduleExpression"]
        for rule in rules
        for target in rule["Targets"]
        if function_id(target["Arn"]) == "AlertsFunction"
    ]
    assert rate == "rate(5 minutes)"
    assert _alarm(template, alarm)["Period"] >= 2 * timedelta(minutes=5).total_seconds()


def test_every_dead_letter_queue_has_an_alarm(template: Template) -> None:
    queues = [
        name for name in resources_of_type(template, "AWS::SQS::Queue") if "DeadLetter" in name
    ]
    assert len(queues) >= 6
    assert [name for name in queues if f"{name}Alarm" not in ALARMS] == []


@pytest.mark.parametrize("alarm", [name for name in ALARMS if "DeadLetterQueue" in name])
def test_messages_left_in_a_dead_letter_queue_raise_an_alarm(
    template: Template, alarm: str
) -> None:
    """Messages in flight count too: they are hidden while they are processed."""
    properties = _alarm(template, alarm)
    queue = alarm.removesuffix("Alarm")
    total, *counts = properties["Metrics"]
    assert (total["Expression"], properties["Threshold"]) == ("waiting + hidden", 0)
    named = {metric["Id"]: metric["MetricStat"]["Metric"] for metric in counts}
    assert {name: metric["MetricName"] for name, metric in named.items()} == {
        "waiting": "ApproximateNumberOfMessagesVisible",
        "hidden": "ApproximateNumberOfMessagesNotVisible",
    }
    dimensions = [{"Name": "QueueName", "Value": {"Fn::GetAtt": [queue, "QueueName"]}}]
    assert [metric["Dimensions"] for metric in named.values()] == [dimensions, dimensions]
    assert [metric["ReturnData"] for metric in counts] == [False, False]


@pytest.mark.parametrize("alarm", [name for name in ALARMS if "DeadLetterQueue" in name])
def test_a_dead_letter_queue_can_be_processed_before_its_alarm(
    template: Template, alarm: str
) -> None:
    """There is time for a second attempt, and some more."""
    properties = _alarm(template, alarm)
    visibility_timeout = resources_of_type(template, "AWS::SQS::Queue")[
        alarm.removesuffix("Alarm")
    ]["VisibilityTimeout"]
    period = {metric["MetricStat"]["Period"] for metric in properties["Metrics"][1:]}
    assert period == {300}
    assert properties["EvaluationPeriods"] * 300 > 2 * visibility_timeout


def test_the_operations_page_names_every_alarm_and_alert() -> None:
    page = (ROOT / "docs" / "operations.md").read_text()
    named = [name for name in ALARMS if "DeadLetterQueue" not in name]
    assert [name for name in named if f"`{name}`" not in page] == []
    assert [rule for rule in AlertRule if f"| `{rule}" not in page] == []
    assert [name for name, _, _ in EXPECTED.values() if f"`{name}`" not in page] == []


def emitted_metrics(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Return the metrics that the function emits without any alert."""
    monkeypatch.setattr(app.metrics.provider, "namespace", "Duecourse/test")
    app._add_metrics(CollectedSignals(Signals(now=datetime(2026, 2, 17, 12, tzinfo=UTC)), {}))
    try:
        return dict(json.loads(json.dumps(app.metrics.serialize_metric_set())))
    finally:
        app.metrics.clear_metrics()
