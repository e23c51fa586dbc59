"""Run the checks in order. One that cannot run does not stop the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import partial

from botocore.exceptions import BotoCoreError, ClientError

from local.cli.client.http import ApiClient
from local.cli.doctor.alarm_checks import check_alarm_email, check_alarms, check_reminder_email
from local.cli.doctor.aws import find_caller
from local.cli.doctor.deployed_stack import DeployedStack
from local.cli.doctor.http_checks import HttpChecks
from local.cli.doctor.local_checks import AWS_ONLY, check_local_schedule
from local.cli.doctor.queue_check import check_queues
from local.cli.doctor.result import CheckResult, Status, failed, ok, skipped
from local.cli.doctor.schedule_check import check_schedule
from local.cli.doctor.secret_checks import (
    check_api_tokens,
    check_secrets,
    check_webhook_signing,
)
from local.cli.errors import CommandFailedError

Check = Callable[[], CheckResult]
# In this order. Those after a failed one that they need are skipped.
NAMES = (
    *("credentials", "stack", "api", "token", "task", "history", "clock", "dead_letters"),
    *("schedule", "queues", "alarms", "alarm_email", "reminder_email"),
    *("secrets", "webhook_signing", "api_tokens"),
)
NEEDS = {
    "token": "api",
    "task": "token",
    "history": "task",
    "clock": "task",
    "dead_letters": "token",
}
PATIENCE = timedelta(seconds=75)  # an authorizer may know a new token only after 30 seconds
LOCAL_PATIENCE = timedelta(seconds=15)
_UNSUPPORTED = ("UnknownOperation", "UnknownOperationException", "InvalidAction", "NotImplemented")
_DENIED = ("AccessDenied", "AccessDeniedException", "AuthorizationError", "UnauthorizedOperation")
_HEALTHY_STACK = ("CREATE_COMPLETE", "UPDATE_COMPLETE", "IMPORT_COMPLETE")


def run_checks(checks: Mapping[str, Check]) -> list[CheckResult]:
    """Return a result of every check, in order."""
    results: dict[str, CheckResult] = {}
    for name in NAMES:
        if name in checks:
            results[name] = _run_check(name, checks[name], results)
    return [*results.values()]


def _run_check(name: str, check: Check, results: Mapping[str, CheckResult]) -> CheckResult:
    needed = results.get(NEEDS.get(name, ""))
    if needed is not None and needed.status in (Status.FAILED, Status.SKIPPED):
        return skipped(name, f"needs the check {needed.name}", "")
    try:
        return check()
    except CommandFailedError as error:
        return failed(name, str(error), "Correct this, and run doctor again.")
    except ClientError as error:
        return _from_aws_error(name, error)
    except BotoCoreError as error:
        return failed(name, f"AWS cannot be reached: {error}", "Check network and region.")


def _from_aws_error(name: str, error: ClientError) -> CheckResult:
    """Return the result of a check whose call was refused. It says nothing about the stack."""
    code = str(error.response.get("Error", {}).get("Code"))
    message = f"{error.operation_name}: {code}"
    if code in _DENIED:
        return skipped(name, f"your credentials may not call {message}", "Use an operator's role.")
    if code in _UNSUPPORTED:
        return skipped(name, f"the endpoint does not support {message}", "")
    return failed(name, message, "Correct this, and run doctor again.")


@contextmanager
def http_checks(checks: HttpChecks, *, is_local: bool) -> Iterator[dict[str, Check]]:
    """Yield the checks that use the HTTP API, and remove their task at the end."""
    try:
        yield {
            "api": checks.check_api,
            "token": checks.check_token,
            "task": checks.check_task,
            "history": checks.check_history,
            "clock": lambda: checks.check_clock(is_local=is_local),
            "dead_letters": checks.check_dead_letters,
        }
    finally:
        checks.clean_up()


def aws_checks(stack: DeployedStack, *, now: datetime) -> dict[str, Check]:
    return {
        "schedule": lambda: check_schedule(stack, now=now),
        "queues": lambda: check_queues(stack, now=now),
        "alarms": lambda: check_alarms(stack),
        "alarm_email": lambda: check_alarm_email(stack),
        "reminder_email": lambda: check_reminder_email(stack),
        "secrets": lambda: check_secrets(stack),
        "webhook_signing": lambda: check_webhook_signing(stack),
        "api_tokens": lambda: check_api_tokens(stack, now=now),
    }


def check_credentials() -> CheckResult:
    caller = find_caller()
    return ok("credentials", f"account {caller.account} in {caller.region}")


def judge_stack(stack: DeployedStack) -> CheckResult:
    if stack.status in _HEALTHY_STACK:
        return ok("stack", f"{stack.name} is {stack.status}")
    advice = "See the stack's events in CloudFormation, then deploy again."
    return failed("stack", f"{stack.name} is {stack.status}", advice)


def local_checks(client: ApiClient) -> dict[str, Check]:
    skips = {name: partial(skipped, name, reason, "") for name, reason in AWS_ONLY.items()}
    return {**skips, "schedule": partial(check_local_schedule, client)}


def remote_checks() -> dict[str, Check]:
    """Return results for what only AWS knows, if no stack is named."""
    reason, advice = "only AWS knows it: use --stack NAME", "Name the stack: --stack NAME."
    names = ("credentials", "stack", *NAMES[NAMES.index("schedule") :])
    return {name: partial(skipped, name, reason, advice) for name in names}
