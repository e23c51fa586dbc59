"""`duecourse explain`: show as JSON what a failure would lead to."""

from __future__ import annotations

import argparse
import json

from local.cli.commands.policy_argument import find_policy
from local.cli.errors import UsageError

_REQUEST_FIELDS = ("policy", "attempt", "code", "status", "type", "retry_after", "spec", "message")


def add_arguments(explain: argparse.ArgumentParser) -> None:
    explain.add_argument("--policy", required=True, help="failure policy, for example agent")
    explain.add_argument(
        "--attempt", type=int, default=0, help="retry_count before this failure; default: 0"
    )
    explain.add_argument("--code", help="error code, for example ECONNRESET")
    explain.add_argument("--status", type=int, help="HTTP status")
    explain.add_argument("--type", help="type of the exception")
    explain.add_argument(
        "--retry-after", type=float, metavar="S", help="the server's Retry-After, in seconds"
    )
    explain.add_argument("--spec", action="store_true", help="the task has a specification")
    explain.add_argument("message", metavar="MESSAGE", help="the error message")
    explain.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    from duecourse.adapters.runtime.clock import SystemClock
    from duecourse.domain.errors import InvalidFieldsError
    from duecourse.domain.failures.explain import explain_failure, parse_explain_request
    from duecourse.domain.limits.budget import next_reset

    fields = {name: getattr(options, name) for name in _REQUEST_FIELDS}
    policy = find_policy(options.policy)
    try:
        request = parse_explain_request(fields, {policy.name: policy})
    except InvalidFieldsError as error:
        problems = [f"--{bad.field.replace('_', '-')}: {bad.message}" for bad in error.errors]
        raise UsageError("; ".join(problems).replace("--message", "MESSAGE")) from None
    now = SystemClock().now()
    explanation = explain_failure(request, now=now, budget_resets_at=next_reset(now))
    print(json.dumps(explanation, indent=2, ensure_ascii=False))
