"""The checks of a local stack that a deployed one answers through AWS."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from local.cli.client.http import ApiClient
from local.cli.doctor.result import CheckResult, failed, ok
from local.cli.errors import CommandFailedError

SCHEDULES_PATH = "/_local/schedules"
AWS_ONLY = {
    "credentials": "a local stack needs no AWS account",
    "stack": "a local stack is not a CloudFormation stack",
    "queues": "a local stack polls its queues itself; see dead_letters",
    "alarms": "a local stack has no CloudWatch",
    "alarm_email": "a local stack has no alarms",
    "reminder_email": "a local stack shows e-mail in GET /_local/outbox?channel=email",
    "secrets": "a local stack has secrets of its own, and emulates the platforms",
    "webhook_signing": "a local stack has a signing key of its own",
    "api_tokens": "a local stack has tokens of its own",
}


def read_local_state(client: ApiClient) -> dict[str, Any] | None:
    """Return the clock and the schedules, or None if this is not a local stack."""
    try:
        return client.get(SCHEDULES_PATH).body
    except CommandFailedError:
        return None


def check_local_schedule(client: ApiClient) -> CheckResult:
    answer = client.get(SCHEDULES_PATH)
    now, is_manual = _instant(answer.body["now"]), answer.body.get("clock") == "manual"
    problems = [
        problem
        for schedule in answer.items
        if (problem := _find_problem(schedule, now=now, is_manual=is_manual))
    ]
    if problems:
        advice = "Remove planted faults (DELETE /_local/faults); see `duecourse up --verbose`."
        return failed("schedule", "; ".join(problems), advice)
    names = ", ".join(sorted(str(schedule["function"]) for schedule in answer.items))
    clock = "; the clock is manual, so they tick when it is moved" if is_manual else ""
    return ok("schedule", f"{names} tick{clock}")


def _find_problem(schedule: dict[str, Any], *, now: datetime, is_manual: bool) -> str | None:
    name = schedule["function"]
    if schedule["last_error"]:
        return f"the last tick of {name} failed: {schedule['last_error']}"
    last = schedule["last_tick_at"] or schedule["started_at"]
    allowed = 2 * timedelta(seconds=schedule["period_seconds"])
    if is_manual or last is None or now - _instant(last) <= allowed:
        return None
    return f"{name} has not ticked since {last}"


def _instant(text: str) -> datetime:
    return datetime.fromisoformat(text)
