"""Requests are logged without what may be secret, and for as long as all logs."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from local.runtime.template import Resolver, resources_of_type

Template = dict[str, Any]
ALLOWED = {
    "identity.sourceIp",
    "authorizer.name",
    "httpMethod",
    "path",
    "status",
    "responseLatency",
    "requestId",
    "connectionId",
    "eventType",
    "routeKey",
}


def _logged_stages(template: Template, access_logs: str) -> dict[str, dict[str, Any]]:
    """Return the access log settings by stage, with the parameter set."""
    resolver = Resolver(template, {"AccessLogs": access_logs})
    resolver.register("AccessLogGroup", "requests", Arn="arn:requests")
    stages = resources_of_type(template, "AWS::ApiGatewayV2::Stage")
    settings = {
        name: resolver.resolve({"logs": stage.get("AccessLogSettings", {})}).get("logs")
        for name, stage in stages.items()
    }
    return {name: one for name, one in settings.items() if one}


@pytest.mark.parametrize(
    ("access_logs", "stages"),
    [
        ("none", set()),
        ("http", {"HttpApiApiGatewayDefaultStage"}),
        ("all", {"HttpApiApiGatewayDefaultStage", "LiveStage"}),
    ],
)
def test_the_parameter_chooses_which_requests_are_logged(
    template: Template, access_logs: str, stages: set[str]
) -> None:
    assert set(_logged_stages(template, access_logs)) == stages


def test_http_requests_are_logged_by_default(template: Template) -> None:
    """Those of the WebSocket API are not: API Gateway then needs a role in the account."""
    assert template["Parameters"]["AccessLogs"]["Default"] == "http"


def test_a_log_line_names_no_header_and_no_query_string(template: Template) -> None:
    for settings in _logged_stages(template, "all").values():
        variables = set(re.findall(r"\$context\.([\w.]+)", settings["Format"]))
        assert variables
        assert variables <= ALLOWED


def test_a_log_line_is_json(template: Template) -> None:
    for settings in _logged_stages(template, "all").values():
        line = re.sub(r"\$context\.(status|responseLatency)", "1", settings["Format"])
        assert json.loads(line)["id"] == "$context.requestId"


def test_the_log_of_requests_expires(template: Template) -> None:
    group = resources_of_type(template, "AWS::Logs::LogGroup")["AccessLogGroup"]

    assert group["RetentionInDays"] == {"Ref": "LogRetentionDays"}
