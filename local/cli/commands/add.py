"""`duecourse add`: create a task."""

from __future__ import annotations

import argparse
from http import HTTPStatus
from typing import Any

from local.cli.client.run_request import add_json_flag, make_api_client, print_json
from local.cli.commands.json_arguments import parse_json_object_or_file
from local.cli.errors import UsageError

_FLAG_BY_FIELD = {
    "description": "DESCRIPTION",
    "in": "--in",
    "due_at": "--at",
    "timezone": "--timezone",
    "repeat": "--repeat",
    "type": "--type",
    "payload": "--payload",
    "policy": "--policy",
    "subject": "--subject",
    "channel": "--channel",
    "reply_target": "--to",
    "sender_id": "--sender",
    "verify": "--verify",
    "max_retries": "--max-retries",
    "Idempotency-Key": "--key",
}


def add_arguments(add: argparse.ArgumentParser) -> None:
    add.add_argument("description", metavar="DESCRIPTION", help="what the task is about")
    when = add.add_mutually_exclusive_group()
    when.add_argument(
        "--in", dest="in_", metavar="DURATION", help="how long from now: 30s, 10m, 2h30m, 7d"
    )
    when.add_argument("--at", metavar="TIME", help="when: 2026-11-20T08:30, in --timezone")
    add.add_argument("--timezone", metavar="ZONE", help="for example Europe/Berlin; default: UTC")
    add.add_argument("--repeat", metavar="RULE", help="daily, weekdays, a cron line or an RRULE")
    add.add_argument("--type", help="default: reminder")
    add.add_argument("--payload", metavar="JSON", help="JSON, @file, or @- for standard input")
    add.add_argument("--policy", help="failure policy: omega, agent, enrichment, ...")
    add.add_argument("--subject", help="what it works on; failures are also counted by subject")
    add.add_argument("--channel", help="channel that messages go to, for example console")
    add.add_argument("--to", metavar="TARGET", help="chat or person in that channel")
    add.add_argument("--sender", metavar="ID", help="owner of the task; default: api")
    add.add_argument(
        "--verify", action="store_true", help="a person or verifier has to approve the result"
    )
    add.add_argument("--max-retries", type=int, metavar="N", help="retries before it gives up")
    add.add_argument("--key", help="idempotency key: the same key creates only one task")
    add_json_flag(add)
    add.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    from local.cli.client.problem import RefusedError, to_usage_error
    from local.cli.client.screen import Screen
    from local.cli.client.task_view import format_task
    from local.cli.client.times import TimeFormatter

    if not (options.in_ or options.at or options.repeat):
        raise UsageError("set --in, --at or --repeat (see duecourse add --help)")
    headers = _headers(options.key)
    try:
        answer = make_api_client().post("/tasks", _body(options), headers).require_task()
    except RefusedError as error:
        raise to_usage_error(error, _FLAG_BY_FIELD) from None
    if options.json:
        print_json(answer.body)
        return
    print("Created:" if answer.status == HTTPStatus.CREATED else "Already created with this --key:")
    print("\n".join(format_task(answer.body, TimeFormatter(answer.server_time), Screen.detect())))


def _headers(key: str | None) -> dict[str, str]:
    from duecourse.domain.http.header import check_header

    headers = {} if key is None else {"Idempotency-Key": key}
    try:
        for name, value in headers.items():
            check_header(name, value)
    except ValueError as error:
        raise UsageError(f"--key: {error}") from None
    return headers


def _body(options: argparse.Namespace) -> dict[str, Any]:
    """Return only the given fields; the server fills in the rest."""
    fields = {
        "description": options.description,
        "in": options.in_,
        "due_at": options.at,
        "timezone": options.timezone,
        "repeat": options.repeat,
        "type": options.type,
        "policy": options.policy,
        "subject": options.subject,
        "channel": options.channel,
        "reply_target": options.to,
        "sender_id": options.sender,
        "max_retries": options.max_retries,
        "verify": options.verify or None,
    }
    if options.payload is not None:
        fields["payload"] = parse_json_object_or_file(options.payload, flag="--payload")
    return {name: value for name, value in fields.items() if value is not None}
