"""Check that the schedules are enabled, and that their functions tick."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from local.cli.doctor.aws import make_client
from local.cli.doctor.deployed_stack import DeployedStack
from local.cli.doctor.metrics import WINDOW, read_metric
from local.cli.doctor.result import CheckResult, failed, ok, warning
from local.stack_resources import FUNCTION, RULE

_MINUTES = round(WINDOW.total_seconds() / 60)


def check_schedule(stack: DeployedStack, *, now: datetime) -> CheckResult:
    rules = stack.resources.of_type(RULE)
    functions = stack.resources.of_type(FUNCTION)
    ticking = {name: functions.get(name) for name in map(_function_of, rules) if name in functions}
    if disabled := _find_disabled(rules):
        advice = f"Enable the rule: aws events enable-rule --name {disabled[0]}"
        return failed("schedule", f"disabled: {', '.join(disabled)}", advice)
    if not ticking:
        return failed("schedule", "the stack has no schedules", "Deploy it again.")
    return _judge_ticks(ticking, is_young=now - stack.created_at < WINDOW, now=now)


def _function_of(rule: str) -> str:
    """Return the function of a rule; SAM names the rule ScannerFunctionEveryMinute."""
    return f"{rule.partition('Function')[0]}Function"


def _find_disabled(rules: Mapping[str, str]) -> list[str]:
    client = make_client("events")
    names = [physical_id.rpartition("|")[2] for physical_id in rules.values()]
    return [name for name in names if client.describe_rule(Name=name)["State"] == "DISABLED"]


def _judge_ticks(functions: dict[str, str | None], *, is_young: bool, now: datetime) -> CheckResult:
    client = make_client("cloudwatch")
    silent = [
        name for name, one in functions.items() if not _count(client, "Invocations", one, now)
    ]
    failing = [name for name, one in functions.items() if _count(client, "Errors", one, now)]
    if failing:
        found = f"failed within {_MINUTES} minutes: {', '.join(failing)}"
        return failed("schedule", found, "Read the logs of these functions.")
    if silent and is_young:
        found = f"enabled; no tick is recorded yet: {', '.join(silent)}"
        return warning("schedule", found, f"Run doctor again in {_MINUTES} minutes.")
    if silent:
        found = f"no tick within {_MINUTES} minutes: {', '.join(silent)}"
        return failed("schedule", found, "Check the rules' targets and the functions' logs.")
    return ok("schedule", f"{', '.join(functions)} tick without errors")


def _count(client: Any, metric: str, function: str | None, now: datetime) -> float:
    dimension = ("FunctionName", function or "")
    found = read_metric(client, f"AWS/Lambda:{metric}", dimension, statistic="Sum", now=now)
    return found or 0
