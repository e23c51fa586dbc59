"""The CloudWatch dashboard shows metrics that exist, and every alarm."""

from __future__ import annotations

import json
import re
from typing import Any

from functions.worker.app import METRIC_BY_OUTCOME
from local.runtime.template import resources_of_type

Template = dict[str, Any]
FREE_METRICS = 50  # of each of the three dashboards that an account has for free


def _widgets(template: Template) -> list[dict[str, Any]]:
    body = resources_of_type(template, "AWS::CloudWatch::Dashboard")["StackDashboard"]
    widgets: list[dict[str, Any]] = json.loads(body["DashboardBody"]["Fn::Sub"])["widgets"]
    return widgets


def _metrics(template: Template) -> list[list[Any]]:
    return [one for widget in _widgets(template) for one in widget["properties"].get("metrics", ())]


def test_the_dashboard_costs_nothing_unless_it_is_wanted(template: Template) -> None:
    assert template["Resources"]["StackDashboard"]["Condition"] == "HasDashboard"
    assert template["Parameters"]["Dashboard"]["Default"] == "off"


def test_the_dashboard_shows_every_alarm(template: Template) -> None:
    [shown] = [one["properties"]["alarms"] for one in _widgets(template) if one["type"] == "alarm"]
    alarms = resources_of_type(template, "AWS::CloudWatch::Alarm")

    assert sorted(shown) == sorted(f"${{{name}.Arn}}" for name in alarms)


def test_the_dashboard_shows_the_errors_of_every_function(template: Template) -> None:
    shown = {one[3] for one in _metrics(template) if one[:2] == ["AWS/Lambda", "Errors"]}

    functions = resources_of_type(template, "AWS::Lambda::Function")
    assert shown == {f"${{{name}}}" for name in functions}


def test_everything_that_the_dashboard_names_exists(template: Template) -> None:
    names = re.findall(r"\$\{(\w+)(?:\.\w+)?\}", json.dumps(_widgets(template)))

    assert names
    assert [one for one in names if one not in template["Resources"] and one != "AWS"] == []


def test_the_metrics_of_our_own_are_written_by_the_worker(template: Template) -> None:
    own = {one[1] for one in _metrics(template) if one[0].startswith("Duecourse/")}

    assert "Lateness" in own
    assert own <= {*METRIC_BY_OUTCOME.values(), "Lateness"}


def test_the_widgets_do_not_overlap(template: Template) -> None:
    taken = [
        (column, row)
        for one in _widgets(template)
        for column in range(one["x"], one["x"] + one["width"])
        for row in range(one["y"], one["y"] + one["height"])
    ]

    assert len(taken) == len(set(taken))
    assert max(column for column, _ in taken) < 24


def test_the_dashboard_has_no_more_metrics_than_a_free_one(template: Template) -> None:
    assert len(_metrics(template)) <= FREE_METRICS
