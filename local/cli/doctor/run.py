"""Choose what is examined: a stack on AWS, the local stack, or an API elsewhere."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from local.cli.client.http import ApiClient
from local.cli.client.run_request import print_json
from local.cli.client.screen import Screen
from local.cli.client.server import Server, server_from_env
from local.cli.doctor.aws import (
    explain_errors,
    find_caller,
    find_region,
    to_reachable_url,
    use_config,
)
from local.cli.doctor.deployed_stack import DeployedStack, read_stack
from local.cli.doctor.examine import (
    LOCAL_PATIENCE,
    NAMES,
    PATIENCE,
    Check,
    aws_checks,
    check_credentials,
    http_checks,
    judge_stack,
    local_checks,
    remote_checks,
    run_checks,
)
from local.cli.doctor.http_checks import HttpChecks
from local.cli.doctor.local_checks import read_local_state
from local.cli.doctor.next_steps import format_next_steps
from local.cli.doctor.own_token import own_token
from local.cli.doctor.report import format_report, overall_status, to_json
from local.cli.doctor.result import CheckResult, Status, failed, skipped
from local.cli.doctor.samconfig import DEFAULT_ENVIRONMENT, read_config
from local.cli.errors import CommandFailedError
from local.cli.token_secret import SecretNotChangedError

CONFIG_NAME = "samconfig.toml"
REQUEST_TIMEOUT = timedelta(seconds=30)  # the first request starts the functions
_ROOT = Path(__file__).resolve().parents[3]
_NO_TOKEN = "none"  # noqa: S105 - sent where no token is needed


@dataclass(frozen=True, slots=True)
class Time:
    now: Callable[[], datetime]
    pause: Callable[[float], None]


# Tests replace it.
REAL_TIME = Time(lambda: datetime.now(UTC), time.sleep)


@dataclass(frozen=True, slots=True)
class Report:
    """`target` says what was examined, as text and as JSON."""

    target: str
    target_json: dict[str, str]
    results: list[CheckResult]


def examine(options: argparse.Namespace, env: Mapping[str, str]) -> None:
    """Print the report. Raises CommandFailedError if a check failed."""
    is_on_aws = options.stack is not None or options.env is not None
    report = _examine_stack(options, env) if is_on_aws else _examine_server(options, env)
    if options.json:
        print_json(to_json(report.target_json, report.results))
    else:
        print("\n".join(format_report(report.target, report.results, Screen.detect())))
    if overall_status(report.results) is Status.FAILED:
        names = [one.name for one in report.results if one.status is Status.FAILED]
        raise CommandFailedError(f"failed: {', '.join(names)}")


def print_preflight(options: argparse.Namespace) -> None:
    """Print where a deployment would go. Raises CommandFailedError with one line."""
    name, caller = _use_stack_name(options), find_caller()
    if options.json:
        target = {"stack": name, "account": caller.account, "region": caller.region}
        print_json(target)
    else:
        print(f"Stack {name}, account {caller.account}, region {caller.region}")


def print_next_steps(options: argparse.Namespace) -> None:
    """Print what to do after a deployment. Raises CommandFailedError with one line."""
    name = _use_stack_name(options)
    refused, unread = f"AWS refused to describe {name}", f"the stack {name} cannot be read"
    with explain_errors(refused=refused, failed=unread):
        stack = read_stack(name)
    lines = format_next_steps(stack, _api_url(options, stack))
    if options.json:
        print_json({"next_steps": lines})
    else:
        print("\n".join(lines))


def _use_stack_name(options: argparse.Namespace) -> str:
    """Return the name of the stack, and use the region and profile that belong to it."""
    if options.stack and options.env is None:
        return str(options.stack)
    here = Path(CONFIG_NAME)
    path = here if here.exists() else _ROOT / CONFIG_NAME
    config = read_config(path, options.env or DEFAULT_ENVIRONMENT)
    use_config(config)
    return options.stack or config.stack_name


def _api_url(options: argparse.Namespace, stack: DeployedStack) -> str:
    url = options.url or stack.outputs.get("ApiUrl")
    if url is None:
        raise CommandFailedError(f"the stack {stack.name} has no output ApiUrl: use --url")
    return str(options.url or to_reachable_url(url)).rstrip("/")


# --- a stack on AWS ---------------------------------------------------------------------------


def _examine_stack(options: argparse.Namespace, env: Mapping[str, str]) -> Report:
    name, found = _use_stack_name(options), []

    def check_stack() -> CheckResult:
        found.append(read_stack(name))
        return judge_stack(found[0])

    results = run_checks({"credentials": check_credentials})
    if results[0].status is Status.OK:
        results += run_checks({"stack": check_stack})
    target = {"kind": "aws", "stack": name}
    if not found:
        reason = f"needs the check {results[-1].name}"
        results += [skipped(left, reason, "") for left in NAMES[len(results) :]]
        return Report(f"Stack {name}", target, results)
    stack, url = found[0], _api_url(options, found[0])
    results += _examine_api(stack, url, env)
    region = find_region() or ""
    return Report(
        f"Stack {name} in {region}: {url}", {**target, "region": region, "url": url}, results
    )


def _examine_api(stack: DeployedStack, url: str, env: Mapping[str, str]) -> list[CheckResult]:
    checks = aws_checks(stack, now=REAL_TIME.now())
    try:
        with _stack_token(stack, url, env) as (token, is_new):
            server = _make_server(url, token)
            return _run_http_checks(server, PATIENCE, checks, is_new_token=is_new)
    except SecretNotChangedError as error:
        advice = "Allow secretsmanager:PutSecretValue, or set DUECOURSE_URL and DUECOURSE_TOKEN."
        refusal = failed("token", f"none can be stored: {error}", advice)
        server = _make_server(url, _NO_TOKEN)
        return _run_http_checks(server, PATIENCE, {**checks, "token": lambda: refusal})


@contextmanager
def _stack_token(
    stack: DeployedStack, url: str, env: Mapping[str, str]
) -> Iterator[tuple[str, bool]]:
    """Yield a token, and whether it is a new one.

    The caller's own is used only for the API that it belongs to: it must not reach another one.
    """
    token = env.get("DUECOURSE_TOKEN")
    if token and (env.get("DUECOURSE_URL") or "").rstrip("/") == url:
        yield token, False
        return
    secret_arn = stack.outputs.get("ApiTokensSecretArn")
    if secret_arn is None:
        raise SecretNotChangedError("the stack has no output ApiTokensSecretArn")
    with own_token(secret_arn, now=REAL_TIME.now()) as token:
        yield token, True


# --- the local stack, or an API elsewhere -----------------------------------------------------


def _examine_server(options: argparse.Namespace, env: Mapping[str, str]) -> Report:
    server = server_from_env({**env, "DUECOURSE_URL": options.url or env.get("DUECOURSE_URL", "")})
    client = ApiClient(server)
    local = read_local_state(client) if server.is_local else None
    if local is None:
        results = _run_http_checks(server, PATIENCE, remote_checks())
        return Report(f"API at {server.name}", {"kind": "api", "url": server.name}, results)
    is_manual = local.get("clock") == "manual"
    patience = timedelta(0) if is_manual else LOCAL_PATIENCE
    results = _run_http_checks(server, patience, local_checks(client), is_local=True)
    return Report(f"Local stack at {server.name}", {"kind": "local", "url": server.name}, results)


def _run_http_checks(
    server: Server,
    patience: timedelta,
    others: Mapping[str, Check],
    *,
    is_new_token: bool = False,
    is_local: bool = False,
) -> list[CheckResult]:
    client = ApiClient(server, timeout=REQUEST_TIMEOUT)
    checks = HttpChecks(
        client,
        REAL_TIME.now,
        REAL_TIME.pause,
        patience,
        token_name="a token of its own" if is_new_token else server.token_name,
        is_new_token=is_new_token,
    )
    with http_checks(checks, is_local=is_local) as own:
        return run_checks({**own, **others})


def _make_server(url: str, token: str) -> Server:
    return server_from_env({"DUECOURSE_URL": url, "DUECOURSE_TOKEN": token})
