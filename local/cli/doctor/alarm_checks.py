"""Check the alarms, and that somebody receives them, and the reminders by e-mail."""

from __future__ import annotations

from typing import Any

from local.cli.doctor.aws import make_client
from local.cli.doctor.deployed_stack import DeployedStack
from local.cli.doctor.result import CheckResult, failed, ok, skipped, warning
from local.stack_resources import ALARM

_MAX_NAMES = 100  # of one call


def check_alarms(stack: DeployedStack) -> CheckResult:
    alarms = stack.resources.of_type(ALARM)
    states = _read_states([*alarms.values()])
    if raised := [name for name, alarm in alarms.items() if states.get(alarm) == "ALARM"]:
        advice = "See docs/operations.md, Alarms: what each means, and what to do."
        return failed("alarms", f"raised: {', '.join(sorted(raised))}", advice)
    if missing := [name for name, alarm in alarms.items() if alarm not in states]:
        found = f"not found: {', '.join(sorted(missing))}"
        return warning("alarms", found, "Somebody deleted them: deploy the stack again.")
    return ok("alarms", f"none of {len(alarms)} is raised")


def _read_states(names: list[str]) -> dict[str, str]:
    client: Any = make_client("cloudwatch")
    pages = client.get_paginator("describe_alarms")
    return {
        alarm["AlarmName"]: alarm["StateValue"]
        for start in range(0, len(names), _MAX_NAMES)
        for page in pages.paginate(AlarmNames=names[start : start + _MAX_NAMES])
        for alarm in page["MetricAlarms"]
    }


def check_alarm_email(stack: DeployedStack) -> CheckResult:
    topic = stack.outputs.get("AlarmTopicArn")
    if topic is None:
        return failed("alarm_email", "the stack has no output AlarmTopicArn", "Deploy it again.")
    advice = "Set the parameter AlarmEmail, or subscribe to the topic of the output AlarmTopicArn."
    return _check_subscription("alarm_email", topic, "nobody receives the alarms", advice)


def check_reminder_email(stack: DeployedStack) -> CheckResult:
    topic = stack.outputs.get("ReminderTopicArn")
    if topic is None:
        advice = "To get reminders by e-mail, set the parameter ReminderEmail (docs/email.md)."
        return skipped("reminder_email", "the stack has no channel email", advice)
    advice = "Subscribe an address to the topic of the output ReminderTopicArn."
    return _check_subscription("reminder_email", topic, "nobody receives reminders", advice)


def _check_subscription(name: str, topic: str, problem: str, advice: str) -> CheckResult:
    """Addresses are not shown: the output may be pasted into a ticket."""
    client: Any = make_client("sns")
    pages = client.get_paginator("list_subscriptions_by_topic").paginate(TopicArn=topic)
    arns = [str(one["SubscriptionArn"]) for page in pages for one in page["Subscriptions"]]
    confirmed = [arn for arn in arns if arn.startswith("arn:")]
    if confirmed:
        pending = len(arns) - len(confirmed)
        note = f", {pending} not confirmed" if pending else ""
        return ok(name, f"{len(confirmed)} confirmed{note}")
    if arns:
        confirm = "Open the link in the e-mail that AWS sent to each address."
        return warning(name, f"{problem}: {len(arns)} not confirmed", confirm)
    return warning(name, f"{problem}: no subscription", advice)
