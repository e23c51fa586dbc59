"""`duecourse token`: manage API tokens of a deployed stack."""

from __future__ import annotations

import argparse

from duecourse.domain.access.scope import Scope

from local.cli.errors import CommandFailedError, UsageError


def add_arguments(token: argparse.ArgumentParser) -> None:
    token.add_argument(
        "name", nargs="?", metavar="NAME", help="who uses it; the audit log shows it"
    )
    scopes = [scope.value for scope in Scope]
    token.add_argument("--scope", choices=scopes, help="each includes those before it")
    token.add_argument(
        "--expires",
        metavar="DURATION",
        help="lifetime, for example 90d, or never; default: 365d",
    )
    token.add_argument(
        "--secret",
        metavar="ARN",
        help="store it in this secret: the stack's output ApiTokensSecretArn",
    )
    token.add_argument("--replace", action="store_true", help="replace the token of that name")
    token.add_argument("--revoke", metavar="NAME", help="remove this token from the secret")
    token.add_argument(
        "--list", action="store_true", help="list the tokens in the secret and when they expire"
    )
    token.add_argument("--json", action="store_true", help="print JSON")
    token.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    from duecourse.adapters.runtime.clock import SystemClock

    from local.cli.token_manager import run_token_command
    from local.cli.token_secret import SecretNotChangedError

    try:
        print(run_token_command(options, now=SystemClock().now()))
    except ValueError as error:
        raise UsageError(str(error)) from None
    except SecretNotChangedError as error:
        raise CommandFailedError(f"--secret {options.secret}: {error}") from None
