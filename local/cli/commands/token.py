"""`duecourse token`: manage API tokens of a deployed stack."""

from __future__ import annotations

import argparse

from duecourse.domain.access.scope import Scope

from local.cli.errors import CommandFailedError, UsageError


def add_arguments(token: argparse.ArgumentParser) -> None:
    token.add_argument("name", nargs="?", metavar="NAME", help="whose it is, as the audit log says")
    scopes = [scope.value for scope in Scope]
    token.add_argument("--scope", choices=scopes, help="each may do what those before it may")
    token.add_argument("--expires", metavar="DURATION", help="for example 90d; default: never")
    token.add_argument("--secret", metavar="ARN", help="the output ApiTokensSecretArn: change it")
    token.add_argument("--replace", action="store_true", help="the token of that name, if any")
    token.add_argument("--revoke", metavar="NAME", help="take this token out of the secret")
    token.add_argument("--json", action="store_true", help="for programs")
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
