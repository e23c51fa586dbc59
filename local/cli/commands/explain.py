"""`duecourse explain`: show as JSON what a failure would lead to."""

from __future__ import annotations

import argparse
import json

from local.cli.commands.policy_argument import find_policy
from local.cli.errors import UsageError

_QUESTION_FIELDS = ("policy", "attempt", "code", "status", "type", "retry_after", "spec", "message")


def add_arguments(explain: argparse.ArgumentParser) -> None:
    explain.add_argument("--policy", required=True, help="for example agent")
    explain.add_argument(
        "--attempt", type=int, default=0, help="retry_count before this failure; default: 0"
    )
    explain.add_argument("--code", help="for example ECONNRESET")
    explain.add_argument("--status", type=int, help="the HTTP status")
    explain.add_argument("--type", help="the exception's type")
    explain.add_argument("--retry-after", type=float, metavar="S", help="seconds the server asked")
    explain.add_argument("--spec", action="store_true", help="the task has a specification")
    explain.add_argument("message")
    explain.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    from duecourse.adapters.runtime.clock import SystemClock
    from duecourse.domain.errors import InvalidFieldsError
    from duecourse.domain.failures.explain import explain_failure, parse_explain_request
    from duecourse.domain.limits.budget import next_reset

    asked = {name: getattr(options, name) for name in _QUESTION_FIELDS}
    policy = find_policy(options.policy)
    try:
        question = parse_explain_request(asked, {policy.name: policy})
    except InvalidFieldsError as error:
        told = [f"--{bad.field.replace('_', '-')}: {bad.message}" for bad in error.errors]
        raise UsageError("; ".join(told).replace("--message", "MESSAGE")) from None
    now = SystemClock().now()
    found = explain_failure(question, now=now, budget_resets_at=next_reset(now))
    print(json.dumps(found, indent=2, ensure_ascii=False))
