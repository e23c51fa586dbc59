"""`duecourse check-handler`: crash a handler at every point of its run."""

from __future__ import annotations

import argparse
import json

from local.cli.commands.json_arguments import parse_json_object
from local.cli.errors import CommandFailedError, UsageError


def add_arguments(check: argparse.ArgumentParser) -> None:
    check.add_argument("type", help="task type of the handler, for example reminder")
    check.add_argument(
        "--payload", default="{}", metavar="JSON", help="payload of the task; default: {}"
    )
    check.add_argument(
        "--only",
        action="append",
        metavar="CALL",
        help="crash only at this call, for example handler.mutate; repeatable",
    )
    check.add_argument("--json", action="store_true", help="print JSON")
    check.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    from duecourse.domain.errors import InvalidFieldsError, SettingsError

    from local.cli.handler_check import UnknownTypeError, check_handler
    from local.testing.handler_kit import BaselineFailedError

    payload = parse_json_object(options.payload, flag="--payload")
    try:
        report = check_handler(options.type, payload, only_calls=options.only)
    except UnknownTypeError as error:
        raise UsageError(str(error)) from None
    except InvalidFieldsError as error:
        raise UsageError(f"--payload: {error}") from None
    except (BaselineFailedError, SettingsError, ImportError, SyntaxError) as error:
        raise CommandFailedError(f"{options.type}: {error}") from None
    print(json.dumps(report.to_json(), indent=2) if options.json else report)
    if not report.is_sound:
        raise CommandFailedError(f"{options.type} is not crash-safe")
