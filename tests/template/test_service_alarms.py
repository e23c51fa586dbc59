"""Alarms on what AWS measures itself: they ring too if our own code does not run at all."""

from __future__ import annotations

from typing import Any

import pytest

from local.runtime.template import load_template, resources_of_type
from tests.template.test_alarms import ABOVE, ALARMS, FROM, Template

BELOW = "LessThanThreshold"
FUNCTIONS = sorted(resources_of_type(load_template(), "AWS::Lambda::Function"))
SCHEDULED = {"ScannerFunction": 60, "SweeperFunction": 300, "AlertsFunction": 300}
OLDEST = "ApproximateAgeOfOldestMessage"


def _alarm(template: Template, name: str) -> dict[str, Any]:
    return resources_of_type(template, "AWS::CloudWatch::Alarm")[name]


def _metric(properties: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(properties[name] for name in ("Namespace", "MetricName", "Statistic"))


def _dimension(properties: dict[str, Any]) -> Any:
    [dimension] = properties["Dimensions"]
    return dimension["Value"]


@pytest.mark.parametrize("function", sorted(SCHEDULED))
def test_a_scheduled_function_that_stops_raises_an_alarm(template: Template, function: str) -> None:
    """Nothing fails if a schedule is disabled, so missing data has to count as breaching."""
    properties = _alarm(template, f"{function.removesuffix('Function')}HeartbeatAlarm")

    assert _metric(properties) == ("AWS/Lambda", "Invocations", "Sum")
    assert _dimension(properties) == {"Ref": function}
    assert (properties["ComparisonOperator"], properties["Threshold"]) == (BELOW, 1)
    assert properties["TreatMissingData"] == "breaching"
    # Ticks come a little early or late, and AWS delivers metrics a minute or two later.
    assert properties["Period"] * properties["EvaluationPeriods"] >= 4 * SCHEDULED[function]


def test_the_scanner_is_missed_within_five_minutes(template: Template) -> None:
    properties = _alarm(template, "ScannerHeartbeatAlarm")

    assert properties["Period"] * properties["EvaluationPeriods"] <= 300


@pytest.mark.parametrize("function", FUNCTIONS)
def test_errors_of_a_function_raise_an_alarm(template: Template, function: str) -> None:
    properties = _alarm(template, f"{function.removesuffix('Function')}ErrorsAlarm")

    assert _metric(properties) == ("AWS/Lambda", "Errors", "Sum")
    assert _dimension(properties) == {"Ref": function}
    assert (properties["ComparisonOperator"], properties["Threshold"]) == (FROM, 1)


def test_every_queue_has_an_alarm_for_work_that_waits(template: Template) -> None:
    queues = [
        name for name in resources_of_type(template, "AWS::SQS::Queue") if "DeadLetter" not in name
    ]
    watched = {_dimension(one)["Fn::GetAtt"][0] for one in _queue_alarms(template)}

    assert watched == set(queues)


def test_an_old_message_raises_an_alarm_after_its_second_attempt(template: Template) -> None:
    """A message that crashed its function once comes back after the visibility timeout."""
    queues = resources_of_type(template, "AWS::SQS::Queue")
    of_age = [one for one in _queue_alarms(template) if one["MetricName"] == OLDEST]
    assert len(of_age) == 4
    for properties in of_age:
        queue = queues[_dimension(properties)["Fn::GetAtt"][0]]
        assert properties["Statistic"] == "Maximum"
        assert queue["VisibilityTimeout"] < properties["Threshold"] <= 900


def test_notifications_that_quiet_hours_hide_raise_no_alarm(template: Template) -> None:
    """They are not visible for hours. A queue that nobody reads is visible in every sample."""
    properties = _alarm(template, "NoticesQueueAlarm")

    assert properties["MetricName"] == "ApproximateNumberOfMessagesVisible"
    assert properties["Statistic"] == "Minimum"
    assert (properties["ComparisonOperator"], properties["EvaluationPeriods"]) == (ABOVE, 3)


def test_a_journal_that_falls_behind_raises_an_alarm(template: Template) -> None:
    properties = _alarm(template, "JournalAgeAlarm")

    assert _metric(properties) == ("AWS/Lambda", "IteratorAge", "Maximum")
    assert _dimension(properties) == {"Ref": "JournalFunction"}
    assert properties["Threshold"] == 5 * 60 * 1000


def test_throttled_functions_raise_an_alarm(template: Template) -> None:
    properties = _alarm(template, "ThrottlesAlarm")

    assert _metric(properties) == ("AWS/Lambda", "Throttles", "Sum")
    assert "Dimensions" not in properties  # all functions of the account share its concurrency


def test_server_errors_of_the_http_api_raise_an_alarm(template: Template) -> None:
    properties = _alarm(template, "HttpServerErrorsAlarm")

    assert _metric(properties) == ("AWS/ApiGateway", "5xx", "Sum")
    assert _dimension(properties) == {"Ref": "HttpApi"}


def _queue_alarms(template: Template) -> list[dict[str, Any]]:
    found = [_alarm(template, name) for name in ALARMS]
    return [one for one in found if one.get("Namespace") == "AWS/SQS"]
